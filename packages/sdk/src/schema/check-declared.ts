import { unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { constantLabelText } from './constant-labels.ts'
import { FIELD_CLASSES, type Field, type NestedField, type Role } from './field.ts'
import type { Kind } from './kinds.ts'
import type { Slot } from './layout.ts'
import type { RecordType } from './record-type.ts'

const INTEGERS: readonly Kind[] = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64']
const NUMBERS: readonly Kind[] = [...INTEGERS, 'f32', 'f64']

/** The kinds that an application may declare for each role, as the TypeScript types allow them. */
const KINDS: Readonly<Record<Role, readonly Kind[]>> = {
  timestamp: ['u64'],
  label: ['symbol', 'char', 'u8', 'u16', 'u32'],
  counter: NUMBERS,
  gauge: [...NUMBERS, 'bool'],
  bucket: ['u32', 'u64'],
  value: [...NUMBERS, 'bool', 'symbol', 'char'],
}

/** The properties of a field that an application gives. */
const OPTIONS = { help: true, unit: true, metric: true, labels: true, metricType: true, class: true } as const
/** The properties that the field functions add. */
export const MADE = ['kind', 'role', 'count', 'optional', 'resolution', 'edges', 'value', 'type', 'fields', 'element']
const TEXT_CHARACTERS_MAX = 4096

/**
 * Checks the declaration of an application as TypeScript would, for programs in JavaScript. Declarations from files and
 * peers are checked less strictly, because another version may have written them.
 *
 * @throws SondeError `SCH_FIELD` with the type, the field, the given and the allowed values.
 */
export function checkDeclared({ name: type, fields, layout, metrics }: RecordType): void {
  for (const [name, field] of Object.entries(fields)) checkOptions(`field ${name} of type ${type}`, field)
  const owners = new Map<string, Slot>()
  const lines = new Map<string, string>()
  for (const { name, field, ...slot } of layout.slots) {
    const metric = metrics.get(name)
    if (metric === undefined) continue
    const owner = owners.get(metric) ?? { name, field, ...slot }
    owners.set(metric, owner)
    const line = `${metric}{${constantLabelText(field)}}`
    const same = lines.get(line)
    if (same !== undefined) {
      const advice = 'give each a separate name with metric, or distinct labels'
      throw new SondeError(
        'SCH_FIELD',
        `fields ${same} and ${name} of type ${type} have one metric, ${line}; ${advice}`,
      )
    }
    lines.set(line, name)
    if (formOf(owner.field) === formOf(field)) continue
    throw new SondeError(
      'SCH_FIELD',
      `fields ${owner.name} and ${name} of type ${type} share the metric ${metric} but are ${formOf(owner.field)} and ${formOf(field)}; allowed: the same role, unit and number of elements`,
    )
  }
}

/** The properties that all fields of one metric share. */
function formOf({ role, metricType, unit = '', count, edges }: Field): string {
  const shape = edges === undefined && count > 1 ? ` array of ${count}` : ''
  return `a ${metricType ?? role}${shape} ${unit === '' ? 'without unit' : `in ${unit}`}`
}

function checkOptions(place: string, field: Field | NestedField): void {
  const given = Object.fromEntries(Object.entries(field).filter(([key]) => !MADE.includes(key)))
  const unknown = unknownOption(given, OPTIONS)
  if (unknown !== undefined) throw new SondeError('SCH_FIELD', `${place}: ${unknown}`)
  for (const key of ['help', 'unit', 'metric'] as const) {
    const text: unknown = field[key]
    if (text === undefined || (typeof text === 'string' && text.length <= TEXT_CHARACTERS_MAX)) continue
    throw wrong(`${place}: ${key}`, text, `text of at most ${TEXT_CHARACTERS_MAX} characters`)
  }
  if (field.kind === 'record') return
  const kinds = KINDS[field.role]
  if (!kinds.includes(field.kind)) throw wrong(`${place}: kind of a ${field.role}`, field.kind, kinds.join(', '))
  if (
    !['unknown', undefined].includes(field.metricType) ||
    (field.metricType !== undefined && field.role !== 'counter')
  )
    throw wrong(`${place}: metricType of a ${field.role}`, field.metricType, 'unknown, for a counter')
  if (field.class !== undefined && (!FIELD_CLASSES.includes(field.class) || isAlways(field.role)))
    throw wrong(
      `${place}: class of a ${field.role}`,
      field.class,
      isAlways(field.role) ? 'none: it goes along with every field' : FIELD_CLASSES.join(', '),
    )
  if (!['ns', 'us', undefined].includes(field.resolution)) throw wrong(`${place}: unit`, field.resolution, 'ns, us')
}

/** Whether fields of a role go along with every other field. */
function isAlways(role: Role): boolean {
  return role === 'timestamp' || role === 'label'
}

function wrong(what: string, given: unknown, allowed: string): SondeError {
  return new SondeError('SCH_FIELD', `${what} is ${shown(given)}; allowed: ${allowed}`)
}
