import { messageOf, SondeError, shown } from '../errors.ts'
import { JsonReader } from '../internal/json-reader.ts'
import { FIELD_CLASSES } from './field.ts'
import type { TypeDefinition } from './fingerprint.ts'
import { type RecordType, typeOfDefinition, withEntity } from './record-type.ts'

const FIELD_COUNT_LIMIT = 1024
const DEPTH_LIMIT = 8
const TEXT_CHARACTERS_LIMIT = 4096
const EDGE_COUNT_LIMIT = 65_534

const read = new JsonReader((message) => new SondeError('SCH_DEFINITION', message))

/**
 * Makes the type of a definition in JSON, from a file or a peer. Its fingerprint must equal `fingerprint`, so that both
 * sides agree on the bytes. An entity in an unknown form, for example of a later version, is left out, because the
 * records are readable without it.
 *
 * @param onLeftOut Called with the reason if the entity is left out. Default: ignored.
 * @throws SondeError `SCH_DEFINITION` if the JSON is no definition, or has another fingerprint.
 */
export function parseDefinition(
  json: unknown,
  fingerprint: string,
  onLeftOut: (reason: string) => void = () => undefined,
): RecordType {
  const { entity, ...definition } = read.object('the definition', json)
  const place = `the definition of ${shown(definition.name)}`
  for (const key of ['name', 'description'] as const)
    read.text(`${place}: ${key}`, definition[key], TEXT_CHARACTERS_LIMIT)
  read.oneOf(`${place}: layout`, definition.layout, ['aligned', 'packed'])
  read.oneOf(`${place}: inTurns`, definition.inTurns, [undefined, true, false])
  checkFields(place, definition.fields, 1)
  const type = typeOf(place, definition as unknown as TypeDefinition)
  if (type.fingerprint !== fingerprint) throw read.wrong(`${place}: fingerprint`, fingerprint, type.fingerprint)
  if (entity === undefined) return type
  try {
    return withEntity(type, entity)
  } catch (error) {
    onLeftOut(messageOf(error))
    return type
  }
}

/** Fields, and those of the records that are nested in them: to a depth that no type has. */
function checkFields(place: string, fields: unknown, depth: number): void {
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > FIELD_COUNT_LIMIT) {
    throw read.wrong(`${place}: fields`, fields, `1 to ${FIELD_COUNT_LIMIT} fields`)
  }
  if (depth > DEPTH_LIMIT) throw read.wrong(`${place}: the depth of its fields`, depth, `at most ${DEPTH_LIMIT}`)
  const names = fields.map((field: unknown) => checkField(place, field, depth))
  if (new Set(names).size < names.length)
    throw read.wrong(`${place}: fields`, names, 'names of which no two are the same')
}

/**
 * Checks the form of a field as TypeScript would; the type checks kinds, roles and counts. Returns the name of the
 * field.
 */
function checkField(place: string, json: unknown, depth: number): string {
  const field = read.object(`a field of ${place}`, json)
  const name = read.text(`${place}: name`, field.name, TEXT_CHARACTERS_LIMIT)
  const at = `${place}: field ${shown(name)}`
  for (const key of ['kind', 'role'] as const) read.text(`${at}: ${key}`, field[key], TEXT_CHARACTERS_LIMIT)
  for (const key of ['help', 'unit', 'metric'] as const)
    if (field[key] !== undefined) read.text(`${at}: ${key}`, field[key], TEXT_CHARACTERS_LIMIT)
  if (typeof field.count !== 'number') throw read.wrong(`${at}: count`, field.count, 'a number')
  read.oneOf(`${at}: optional`, field.optional, [true, false])
  read.oneOf(`${at}: metricType`, field.metricType, [undefined, 'unknown'])
  read.oneOf(`${at}: class`, field.class, [undefined, ...FIELD_CLASSES])
  read.oneOf(`${at}: resolution`, field.resolution, [undefined, 'ns', 'us'])
  if (field.kind === 'record') {
    read.text(`${at}: type`, field.type, TEXT_CHARACTERS_LIMIT)
    read.oneOf(`${at}: role`, field.role, ['value'])
    for (const key of ['unit', 'metric', 'labels', 'metricType', 'class', 'edges', 'element'])
      read.oneOf(`${at}: ${key}`, field[key], [undefined])
    checkFields(at, field.fields, depth + 1)
  }
  if (field.edges !== undefined) checkEdges(at, field.edges)
  return name
}

function checkEdges(place: string, edges: unknown): void {
  const ascend =
    Array.isArray(edges) &&
    edges.length <= EDGE_COUNT_LIMIT &&
    edges.every((edge, i) => Number.isFinite(edge) && (i === 0 || edge > edges[i - 1]))
  if (!ascend) throw read.wrong(`${place}: edges`, edges, 'finite numbers that ascend')
}

function typeOf(place: string, definition: TypeDefinition): RecordType {
  try {
    return typeOfDefinition(definition)
  } catch (cause) {
    // Includes too deep nesting in keys of a later version.
    throw new SondeError('SCH_DEFINITION', `${place}: ${messageOf(cause)}`, { cause })
  }
}
