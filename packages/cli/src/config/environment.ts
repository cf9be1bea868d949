import { closest, type Leaf, leavesOf } from '@sonde/sdk/config'
import { ConfigError } from './config-error.ts'
import { ROOM_SCHEMAS } from './rooms.ts'
import { numberOf, type Setting } from './setting.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The variable that gives a setting: `SONDE_` and the key path in capitals, `SONDE_EXPORT_PROMETHEUS_PORT`. */
export function variableOf(path: readonly string[]): string {
  return `SONDE_${path.join('_').toUpperCase()}`
}

/** Every setting that a variable can give; `data_sources`, a list of blocks, is not among them. */
export function environmentLeaves(): Leaf[] {
  return Object.entries(ROOM_SCHEMAS).flatMap(([key, schema]) => leavesOf(schema, [key]))
}

/**
 * The settings of the environment. Empty variables count as not there.
 *
 * @throws ConfigError where a variable is nearly, but not quite, the name of a setting: others named `SONDE_…` are not ours, such as those
 * that Kubernetes makes for a service.
 */
export function environmentSettings(environment: Environment): Setting[] {
  const leaves = new Map(environmentLeaves().map((leaf) => [variableOf(leaf.path), leaf]))
  const names = ['SONDE_CONFIG', ...leaves.keys()]
  const wrong: string[] = []
  const settings: Setting[] = []
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

function readAs(text: string, kind: Leaf['kind']): unknown {
  switch (kind) {
    case 'number':
      return numberOf(text)
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'list':
      return text.split(',').map((part) => part.trim())
    case 'text':
      return text
  }
}
