import type { Field } from '@sonde/sdk'
import { closest } from '@sonde/sdk/config'
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
 * A field of a type that comes with Sonde; undefined if the type is not one of those: applications declare others
 * while Sonde runs. `unfit` if the type has no such field, or it is no number.
 */
export function knownField(type: string, field: string): KnownField | 'unfit' | undefined {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  if (known === undefined) return undefined
  const found = known.layout.slots.find(({ name }) => name === field)?.field
  if (found === undefined || !isNumber(found)) return 'unfit'
  return { isWhole: isWhole(found), role: found.role === 'counter' ? 'counter' : 'gauge' }
}

/** Labels of a type that comes with Sonde; undefined if the type is not one of those. */
export function labelsOfType(type: string): readonly string[] | undefined {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  return known?.labels.map(({ name }) => name)
}

/** The type that comes with Sonde whose name is nearly this. */
export function typeLike(type: string): string | undefined {
  return closest(
    type,
    SOURCES.flatMap(({ types }) => types.map(({ name }) => name)),
  )
}

/** Fields of a type that comes with Sonde which a rule can watch; the likeliest first. */
export function fieldsLike(type: string, field: string): readonly string[] {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  const names = (known?.layout.slots ?? []).flatMap((slot) => (isNumber(slot.field) ? [slot.name] : []))
  const words = field.split('_')
  const shared = (name: string) => name.split('_').filter((word) => words.includes(word)).length
  return names.sort((a, b) => shared(b) - shared(a))
}

/** Whether a value is kept as a whole number of 64 bits: unsigned counters are. */
export function isWhole({ kind, role }: Pick<Field, 'kind' | 'role'>): boolean {
  return role === 'counter' && COUNTED.test(kind)
}

function isNumber({ kind, role, count }: Field): boolean {
  return count === 1 && (role === 'counter' || role === 'gauge' || role === 'value') && NUMBER.test(kind)
}
