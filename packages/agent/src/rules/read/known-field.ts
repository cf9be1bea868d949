import { placeOf } from '../../sources/doca-telemetry-diag/counters.ts'
import { SOURCES } from '../../sources/registry.ts'

/** What is known of the values of a signal before any came. */
export interface KnownField {
  /** Whether its values are kept as whole numbers of 64 bits, as counters are; else they are doubles. */
  readonly isWhole: boolean
  /** A counter only rises, but for resets and wraps. */
  readonly role: 'counter' | 'gauge'
}

const COUNTED = /^u(8|16|32|64)$/
const NUMBER = /^([iu](8|16|32|64)|f(32|64))$/

/** What a data ID counts. IDs that the table does not have are counters, as nearly all are. */
export function fieldOfDataId(id: bigint): KnownField {
  return { isWhole: true, role: placeOf(id).counter?.extreme === undefined ? 'counter' : 'gauge' }
}

/**
 * A field of a type that comes with Sonde; undefined where the type is not one of those: applications declare others
 * while Sonde runs. `unfit` where the type has no such field, or it is no number.
 */
export function knownField(type: string, field: string): KnownField | 'unfit' | undefined {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  if (known === undefined) return undefined
  const { kind, role, count } = (Object.hasOwn(known.fields, field) && known.fields[field]) || {}
  if (kind === undefined || count !== 1) return 'unfit'
  if (role !== 'counter' && role !== 'gauge' && role !== 'value') return 'unfit'
  if (!NUMBER.test(kind)) return 'unfit'
  const isCounter = role === 'counter'
  return { isWhole: isCounter && COUNTED.test(kind), role: isCounter ? 'counter' : 'gauge' }
}
