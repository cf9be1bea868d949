// The files of the Helm chart that are made: values.yaml, values.schema.json, Chart.yaml, the table of its page, and
// copies of the rules, because a chart contains no file from elsewhere.

import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Leaf, leavesOf } from '@sonde/sdk/config'
import { stringify } from 'yaml'
import { jsonSchema, jsonSchemaOf } from '../../packages/cli/src/config/json-schema.ts'
import { valuesSchema } from '../../packages/cli/src/manifests/values/values.ts'
import { readAddresses } from '../addresses.ts'
import { filesOf, root } from '../check/sources.ts'
import { DASHBOARDS } from '../dashboards/dashboards.ts'
import { grafanaJson } from '../dashboards/grafana-json.ts'

const CHART = 'deploy/helm/sonde'
type JsonBlock = Record<string, unknown>

/** Width of comments in values.yaml. */
const WIDTH = 118
const VALUES_HEAD = `# Values of the chart. Made by \`npm run docs\` from packages/cli/src/manifests/values; do not edit.
# README.md has a table of them.
`

/** The made files, by their path from the root. */
export function chartFiles(): Record<string, string> {
  const leaves = leavesOf(valuesSchema, [])
  return {
    [`${CHART}/Chart.yaml`]: chartText(),
    [`${CHART}/values.yaml`]: VALUES_HEAD + valuesText(leaves),
    [`${CHART}/values.schema.json`]: `${JSON.stringify(valuesJsonSchema(), null, 2)}\n`,
    [`${CHART}/README.md`]: withTable(readFileSync(join(root, CHART, 'README.md'), 'utf8'), leaves),
    ...ruleCopies(),
    ...dashboardCopies(),
  }
}

function chartText(): string {
  const { version, license } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  const { repository } = readAddresses()
  return stringify({
    apiVersion: 'v2',
    name: 'sonde',
    description: 'Watches the hardware under AI workloads: GPUs, NICs, PCIe, hosts',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.28.0-0',
    keywords: ['monitoring', 'gpu', 'nvidia', 'dpu', 'rdma', 'prometheus'],
    ...(repository !== '' && { home: repository, sources: [repository] }),
    annotations: { 'artifacthub.io/license': license },
  })
}

/** YAML with a comment above each value. */
function valuesText(leaves: readonly Leaf[]): string {
  const lines: string[] = []
  let open: readonly string[] = []
  for (const { path, kind, description, allowed, fallback } of leaves) {
    const blocks = path.slice(0, -1)
    let depth = 0
    while (depth < blocks.length && blocks[depth] === open[depth]) depth += 1
    for (const [index, name] of blocks.entries())
      if (index >= depth) lines.push(...(index === 0 ? [''] : []), `${'  '.repeat(index)}${name}:`)
    if (blocks.length === 0) lines.push('')
    open = blocks
    const indent = '  '.repeat(blocks.length)
    for (const line of wrapped(commentOf(kind, description, allowed), WIDTH - indent.length))
      lines.push(`${indent}# ${line}`)
    const text = stringify({ [path.at(-1) ?? '']: fallback ?? null }, { lineWidth: 0 }).trimEnd()
    lines.push(...text.split('\n').map((line) => indent + line))
  }
  return `${lines.join('\n')}\n`
}

/** Lists, blocks and plain text show by their default what they are. */
function commentOf(kind: Leaf['kind'], description: string, allowed: string): string {
  const isPlain = kind === 'boolean' || kind === 'list' || kind === 'dictionary' || allowed.startsWith('text')
  return isPlain ? description : `${description}. Allowed: ${allowed}`
}

function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

function valuesJsonSchema(): object {
  const { properties, ...rest } = withoutNull(jsonSchemaOf(valuesSchema)) as JsonBlock
  const { config: _agents, console: page, ...others } = properties as JsonBlock
  const { properties: ofPage, ...restOfPage } = page as JsonBlock
  const { $schema: _draft, ...config } = withoutForms(withoutNull(jsonSchema())) as JsonBlock
  const definitions: JsonBlock = {}
  definitions.config = hoistRepeats({ ...config, type: 'object' }, definitions)
  const reference = { $ref: '#/definitions/config' }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart sonde',
    ...rest,
    properties: {
      ...others,
      config: reference,
      console: { ...restOfPage, properties: { ...(ofPage as JsonBlock), config: reference } },
    },
    definitions,
  }
}

/** Without patterns, which Helm cannot read all, and descriptions. The agent checks the rest at its start. */
function withoutForms(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      const isForm = (key === 'pattern' || key === 'description') && typeof value === 'string'
      return isForm || key === 'propertyNames' ? undefined : value
    }),
  )
}

/** Moves what stands several times, such as the keys of every destination, into the definitions. */
function hoistRepeats(schema: JsonBlock, definitions: JsonBlock): JsonBlock {
  const counts = new Map<string, number>()
  JSON.stringify(schema, (_key, value: unknown) => {
    const text = isLarge(value) ? JSON.stringify(value) : ''
    if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1)
    return value
  })
  const names = new Map<string, string>()
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist)
    if (value === null || typeof value !== 'object') return value
    const text = isLarge(value) ? JSON.stringify(value) : ''
    const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hoist(each)]))
    if ((counts.get(text) ?? 0) < 2) return inner
    const name = names.get(text) ?? `part${names.size + 1}`
    names.set(text, name)
    definitions[name] = inner
    return { $ref: `#/definitions/${name}` }
  }
  return hoist(schema) as JsonBlock
}

/** Whether a value is a schema that is longer than a reference to it. */
function isLarge(value: unknown): boolean {
  const isSchema = value !== null && typeof value === 'object' && ('type' in value || 'anyOf' in value)
  return isSchema && JSON.stringify(value).length > 100
}

/** A block without the alternative null, which Helm removes itself. Messages about a choice would name no key. */
function withoutNull(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNull)
  if (schema === null || typeof schema !== 'object') return schema
  const { anyOf, ...rest } = schema as Record<string, unknown>
  const kept = Array.isArray(anyOf) ? anyOf.filter((each) => each.type !== 'null') : []
  if (kept.length === 1) return withoutNull({ ...rest, ...kept[0] })
  return Object.fromEntries(Object.entries(schema).map(([key, each]) => [key, withoutNull(each)]))
}

/** The page with the table between its marks. */
function withTable(page: string, leaves: readonly Leaf[]): string {
  const rows = leaves.map(({ path, description, fallback }) => {
    const shown = JSON.stringify(fallback ?? null)
    const short = shown.length > 80 ? 'see [values.yaml](values.yaml)' : `\`${shown.replaceAll('|', '\\|')}\``
    return `| \`${path.join('.')}\` | ${description.replaceAll('|', '\\|')} | ${short} |`
  })
  const table = ['| Value | Purpose | Default |', '|---|---|---|', ...rows].join('\n')
  return page.replace(
    /(<!-- values -->\n)[\s\S]*(<!-- \/values -->)/,
    (_all, start, end) => `${start}\n${table}\n\n${end}`,
  )
}

/** Without blanks: Helm keeps all files of a chart in a Secret. */
function dashboardCopies(): Record<string, string> {
  return Object.fromEntries(
    DASHBOARDS.map((each) => [
      `${CHART}/dashboards/${each.uid.replace('sonde-', '')}.json`,
      JSON.stringify(grafanaJson(each)),
    ]),
  )
}

function ruleCopies(): Record<string, string> {
  return Object.fromEntries(
    filesOf('deploy/prometheus/rules/*.{yaml,yml}').map((path) => [
      `${CHART}/rules/${basename(path)}`,
      readFileSync(join(root, path), 'utf8'),
    ]),
  )
}
