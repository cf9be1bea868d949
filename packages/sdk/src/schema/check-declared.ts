import { unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import type { Field, NestedField, Role } from './field.ts'
import type { Kind } from './kinds.ts'
import type { RecordType } from './record-type.ts'

const INTEGERS: readonly Kind[] = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64']
const NUMBERS: readonly Kind[] = [...INTEGERS, 'f32', 'f64']

/** The kinds that a field of a role may have where an application declares it: those that TypeScript lets through. */
const KINDS: Readonly<Record<Role, readonly Kind[]>> = {
  timestamp: ['u64'],
  label: ['symbol', 'char', 'u8', 'u16', 'u32'],
  counter: NUMBERS,
  gauge: [...NUMBERS, 'bool'],
  bucket: ['u32', 'u64'],
  value: [...NUMBERS, 'bool', 'symbol', 'char'],
}

/** What of a field an application gives. */
const OPTIONS = { help: true, unit: true, metric: true } as const
/** What the functions that make fields add to that. */
export const MADE = ['kind', 'role', 'count', 'optional', 'resolution', 'edges', 'value', 'type', 'fields']
const TEXT_CHARACTERS_MAX = 4096

/**
 * Sees that an application declared what TypeScript would let through: not everybody compiles. What files and peers
 * declare is not looked at so closely, since it may come of another version.
 *
 * @throws SondeError `SCH_FIELD` names the type, the field, what was given and what is allowed.
 */
export function checkDeclared({ name: type, fields, metrics }: RecordType): void {
  for (const [name, field] of Object.entries(fields)) checkOptions(`field ${name} of type ${type}`, field)
  const owners = new Map<string, string>()
  for (const [name, metric] of metrics) {
    const owner = owners.get(metric)
    if (owner !== undefined) {
      throw new SondeError(
        'SCH_FIELD',
        `fields ${owner} and ${name} of type ${type} have one metric, ${metric}; give each one of its own with metric`,
      )
    }
    owners.set(metric, name)
  }
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
  if (!['ns', 'us', undefined].includes(field.resolution)) throw wrong(`${place}: unit`, field.resolution, 'ns, us')
}

function wrong(what: string, given: unknown, allowed: string): SondeError {
  return new SondeError('SCH_FIELD', `${what} is ${shown(given)}; allowed: ${allowed}`)
}
