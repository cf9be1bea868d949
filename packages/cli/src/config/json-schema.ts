import { dataSourceSchema, SOURCES } from '@sonde/agent/config'
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { ROOM_SCHEMAS } from './rooms.ts'

/**
 * JSON Schema of the whole file, for editors that check while the user types. The command accepts everything that the
 * schema accepts, except duplicate names.
 */
export function jsonSchema(): object {
  const properties = Object.fromEntries(
    Object.entries(ROOM_SCHEMAS).map(([key, schema]) => [key, orEmpty(jsonSchemaOf(schema))]),
  )
  const sources: JsonSchema = {
    type: 'array',
    maxItems: 256,
    description: 'What is read; left out, every kind of source once',
    items: { oneOf: SOURCES.map((definition) => jsonSchemaOf(dataSourceSchema(definition))) },
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sonde configuration',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: { data_sources: orEmpty(sources), ...properties },
  }
}

/** JSON Schema of one schema. */
export function jsonSchemaOf(schema: GenericSchema): JsonSchema {
  // A check in code cannot be part of the schema; it runs when the file is read.
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    typeMode: 'input',
    ignoreActions: ['check', 'raw_check', 'metadata'],
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'lazy' ? oneOrManyOf(valibotSchema) : undefined),
  })
  return rest
}

/** A block, or a list of blocks. */
function oneOrManyOf(schema: object): JsonSchema {
  const { getter } = schema as { getter: (input: unknown) => GenericSchema }
  return { anyOf: [jsonSchemaOf(getter({})), jsonSchemaOf(getter([]))] }
}

/** An empty block reads as null in YAML. */
function orEmpty(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] }
}
