import { dataSourceSchema, SOURCES } from '@sonde/agent'
import type { GenericSchema } from 'valibot'
import { stringify } from 'yaml'
import type { Loaded } from '../config/load.ts'
import { ROOM_SCHEMAS } from '../config/rooms.ts'

/** The configuration that holds as YAML, each value followed by where it came from. */
export function printConfig({ plain, originOf }: Loaded): string {
  const lines = stringify(plain).trimEnd().split('\n')
  const paths = pathsOfLines(lines)
  const width = Math.min(60, Math.max(...lines.map((line) => line.length)) + 2)
  return lines
    .map((line, index) => {
      const path = paths[index]
      return path === undefined ? line : `${line.padEnd(width)}# ${originOf(path)}`
    })
    .join('\n')
}

/** The key path of every line that holds a value, from the indentation of plain block YAML. */
function pathsOfLines(lines: readonly string[]): (string | undefined)[] {
  const stack: { indent: number; key: string }[] = []
  const counts = new Map<string, number>()
  return lines.map((line) => {
    const match = /^(\s*)((?:- )*)([A-Za-z_][\w]*):(.*)$/.exec(line)
    if (match === null) return undefined
    const [, space = '', dashes = '', key = '', rest = ''] = match
    const indent = space.length + dashes.length
    while (stack.length > 0 && (stack.at(-1)?.indent ?? 0) >= indent) stack.pop()
    if (dashes !== '') {
      const list = pathText(stack.filter((entry) => entry.indent < space.length || !entry.key.startsWith('[')))
      const index = counts.get(list) ?? 0
      counts.set(list, index + 1)
      while (stack.at(-1)?.key.startsWith('[') === true) stack.pop()
      stack.push({ indent: indent - 1, key: `[${index}]` })
    }
    stack.push({ indent, key })
    return rest.trim() === '' ? undefined : pathText(stack)
  })
}

function pathText(stack: readonly { key: string }[]): string {
  return stack.reduce((path, { key }) => (key.startsWith('[') || path === '' ? `${path}${key}` : `${path}.${key}`), '')
}

/** JSON Schema of the whole file, for editors that check while one types. */
export async function printSchema(): Promise<string> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  const convert = (schema: unknown) => {
    const { $schema: _, ...rest } = toJsonSchema(schema as GenericSchema, { errorMode: 'ignore' })
    return rest
  }
  const properties = Object.fromEntries(Object.entries(ROOM_SCHEMAS).map(([key, schema]) => [key, convert(schema)]))
  const sources = {
    type: 'array',
    items: { anyOf: SOURCES.map((definition) => convert(dataSourceSchema(definition))) },
  }
  return JSON.stringify(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Sonde configuration',
      type: 'object',
      additionalProperties: false,
      properties: { data_sources: sources, ...properties },
    },
    null,
    2,
  )
}
