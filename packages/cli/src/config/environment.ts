import { closest, type Leaf, leavesOf } from '@sonde/sdk/config'
import { messageOf, parseEndpoint, TRUST_VARIABLE } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'
import { ROOM_SCHEMAS } from './rooms.ts'
import { numberOrText, type Setting } from './setting.ts'

/** Variables by name, as in `process.env`. */
export type CommandEnvironment = Readonly<Record<string, string | undefined>>

/**
 * Variables of the DOCA Telemetry guide and of the recipe for Kubernetes, besides `PROMETHEUS_ENDPOINT`, with the keys
 * of `export.prometheus` that they set. A `SONDE_…` variable of the same key takes precedence.
 */
export const GUIDE_VARIABLES: Readonly<Record<string, string>> = {
  PROMETHEUS_INDEXES: 'indexes',
  PROMETHEUS_CSET_DIR: 'cset_dir',
  PROMETHEUS_FSET_DIR: 'fset_dir',
  CLX_METADATA_FILE: 'metadata_file',
  CLX_PROMETHEUS_CONSTANT_LABELS: 'constant_labels',
  NODE_NAME: 'node',
  PROMETHEUS_PORT: 'scrape_port',
}

/** The value that Kubernetes puts into `PROMETHEUS_PORT` of every pod beside a Service named `prometheus`. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//

/** The variable of a setting: `SONDE_` and the key path in capitals, such as `SONDE_EXPORT_PROMETHEUS_PORT`. */
export function variableOf(path: readonly string[]): string {
  return `SONDE_${path.join('_').toUpperCase()}`
}

/** Every setting that a variable can set. `data_sources` is a list of blocks, so it is not among them. */
export function environmentLeaves(): Leaf[] {
  return Object.entries(ROOM_SCHEMAS).flatMap(([key, schema]) => leavesOf(schema, [key]))
}

/**
 * The settings of the environment. Empty variables are ignored.
 *
 * @throws ConfigError if a variable resembles the name of a setting. Other variables named `SONDE_…` are ignored,
 * because Kubernetes creates such variables for a service.
 */
export function environmentSettings(environment: CommandEnvironment): Setting[] {
  const leaves = new Map(environmentLeaves().map((leaf) => [variableOf(leaf.path), leaf]))
  const names = ['SONDE_CONFIG', TRUST_VARIABLE, ...leaves.keys()]
  const wrong: string[] = []
  const settings = guideSettings(environment, leaves, wrong)
  for (const [origin, text] of Object.entries(environment)) {
    if (!origin.startsWith('SONDE_') || text === undefined || text === '') continue
    const leaf = leaves.get(origin)
    if (leaf !== undefined) settings.push({ path: leaf.path, value: readAs(text, leaf.kind), origin })
    else if (!names.includes(origin)) {
      const meant = closest(origin, names)
      if (meant !== undefined) wrong.push(`${origin} is no setting; did you mean ${meant}?`)
    }
  }
  if (wrong.length > 0) throw new ConfigError(wrong)
  return settings
}

function guideSettings(environment: CommandEnvironment, leaves: ReadonlyMap<string, Leaf>, wrong: string[]): Setting[] {
  const settings: Setting[] = []
  for (const [origin, key] of Object.entries(GUIDE_VARIABLES)) {
    const [text, leaf] = [environment[origin], leaves.get(variableOf(['export', 'prometheus', key]))]
    if (text !== undefined && text !== '' && leaf !== undefined && !SERVICE_LINK.test(text))
      settings.push({ path: leaf.path, value: readAs(text, leaf.kind), origin })
  }
  const { PROMETHEUS_ENDPOINT: endpoint = '' } = environment
  if (endpoint === '') return settings
  try {
    for (const [key, value] of Object.entries(parseEndpoint(endpoint, 'PROMETHEUS_ENDPOINT')))
      settings.push({ path: ['export', 'prometheus', key], value, origin: 'PROMETHEUS_ENDPOINT' })
  } catch (error) {
    wrong.push(messageOf(error))
  }
  return settings
}

function readAs(text: string, kind: Leaf['kind']): unknown {
  switch (kind) {
    case 'number':
      return numberOrText(text)
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'list':
      return text.split(',').map((part) => part.trim())
    case 'dictionary':
      return dictionaryOf(text)
    case 'text':
      return text
  }
}

/** `name=value,name=value`. An item without `=` stays as it is, and the later check refuses it. */
function dictionaryOf(text: string): unknown {
  const pairs = text.split(',').map((part) => part.trim())
  if (pairs.some((pair) => !pair.includes('='))) return text
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}
