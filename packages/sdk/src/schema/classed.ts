import { SondeError, shown } from '../errors.ts'
import type { Field, NestedField } from './field.ts'
import type { Fields } from './record-type.ts'

/**
 * The fields of a type with their classes: those of the list keep the class that they declare, all others are `full`.
 *
 * @throws SondeError `SCH_FIELD` if the list names another field, a label, or the time.
 */
export function classed<F extends Fields>(type: string, fields: F, core: readonly string[]): F {
  const names = Object.keys(fields).filter((name) => hasClass(fields[name] as Field | NestedField))
  const unknown = core.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new SondeError(
      'SCH_FIELD',
      `core of type ${type} has ${shown(unknown)}; allowed: ${names.join(', ') || 'nothing'}`,
    )
  const entries = Object.entries(fields).map(([name, field]) => [name, core.includes(name) ? field : full(field)])
  return Object.fromEntries(entries) as F
}

function hasClass({ role }: Field | NestedField): boolean {
  return role !== 'timestamp' && role !== 'label'
}

/** The field, or all fields of a nested record, with the class `full`. Nesting was checked before. */
function full(field: Field | NestedField): Field | NestedField {
  if (!hasClass(field)) return field
  if (field.kind !== 'record') return { ...field, class: 'full' }
  const inner = Object.entries(field.fields).map(([name, each]) => [name, full(each)])
  return { ...field, fields: Object.fromEntries(inner) }
}
