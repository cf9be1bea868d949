import type { Field } from '@sonde/sdk'
import { closest } from '@sonde/sdk/config'
import { placedCounter } from '../../sources/doca-telemetry-diag/counters.ts'
import { SOURCES } from '../../sources/registry.ts'

/** Properties of a signal's values that are known before the first value. */
export interface KnownField {
  /** Whether its values are whole numbers of 64 bits, as counters are; otherwise they are doubles. */
  readonly isWhole: boolean
  /** A counter only rises, except for resets and wraps. */
  readonly role: 'counter' | 'gauge'
}

const COUNTED = /^u(8|16|32|64)$/
const NUMBER = /^([iu](8|16|32|64)|f(32|64))$/

/** Properties of a data ID's values. Unknown IDs are treated as counters, because nearly all IDs are counters. */
export function fieldOfDataId(id: bigint): KnownField {
  return { isWhole: true, role: placedCounter(id).counter?.extreme === undefined ? 'counter' : 'gauge' }
}

/**
 * A field of a type that comes with Sonde. Undefined for other types: applications declare types while Sonde runs.
 * `unfit` if the type has no such field, or the field is not a number.
 */
export function knownField(type: string, field: string): KnownField | 'unfit' | undefined {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  if (known === undefined) return undefined
  const found = known.layout.slots.find(({ name }) => name === field)?.field
  if (found === undefined || !isNumber(found)) return 'unfit'
  return { isWhole: isWholeField(found), role: found.role === 'counter' ? 'counter' : 'gauge' }
}

/** Labels of a type that comes with Sonde; undefined for other types. */
export function labelsOfType(type: string): readonly string[] | undefined {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  return known?.labels.map(({ name }) => name)
}

/** The type that comes with Sonde and has the most similar name. */
export function typeLike(type: string): string | undefined {
  return closest(
    type,
    SOURCES.flatMap(({ types }) => types.map(({ name }) => name)),
  )
}

/** Fields of a type that comes with Sonde and that a rule can watch; the most similar names first. */
export function fieldsLike(type: string, field: string): readonly string[] {
  const known = SOURCES.flatMap(({ types }) => types).find(({ name }) => name === type)
  const names = (known?.layout.slots ?? []).flatMap((slot) => (isNumber(slot.field) ? [slot.name] : []))
  const words = field.split('_')
  const shared = (name: string) => name.split('_').filter((word) => words.includes(word)).length
  return names.sort((a, b) => shared(b) - shared(a))
}

/** Whether a value is a whole number of 64 bits: unsigned counters are. */
export function isWholeField({ kind, role }: Pick<Field, 'kind' | 'role'>): boolean {
  return role === 'counter' && COUNTED.test(kind)
}

function isNumber({ kind, role, count }: Field): boolean {
  return count === 1 && (role === 'counter' || role === 'gauge' || role === 'value') && NUMBER.test(kind)
}
