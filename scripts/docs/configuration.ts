// The page docs/configuration.md, from the schemas that the command checks with: key, type, range, unit and default
// cannot differ from them.

import { dataSourceSchema, SOURCES } from '@sonde/agent/config'
import { type Leaf, leavesOf } from '@sonde/sdk/config'
import { COMMON_KEYS, SINKS } from '@sonde/sdk/internal'
import { GUIDE_VARIABLES } from '../../packages/cli/src/config/environment.ts'
import { SWITCHES } from '../../packages/cli/src/config/recipe.ts'
import { ROOM_SCHEMAS } from '../../packages/cli/src/config/rooms.ts'

/** The variables of the guide, each with its key. */
const guide = Object.entries(GUIDE_VARIABLES)
  .map(([name, key]) => `\`${name}\` \`${key}\``)
  .join(', ')

/** The variables that switch sources, each with its source. */
const switches = Object.entries(SWITCHES)
  .map(([name, type]) => `\`${name}\` (\`${type}\`)`)
  .join(', ')

const INTRODUCTION = `# Configuration

<!-- Made by \`npm run docs\` from the schemas; do not edit. -->

Sonde runs without a configuration: every source once, on loopback, with history in the usual place. What should be
different goes into one YAML file:

\`\`\`yaml
data_sources:
  - type: netdev
    interval_ms: 100
    devices: ['mlx5_*', '!veth*']
  - type: host

export:
  prometheus:
    host: 0.0.0.0
    port: 9394
    allowed_hosts: ['*.gpu.example.com']

store:
  dir: /data/sonde
  retention_days: 14
\`\`\`

The file is the one that \`--config\` names, else the one that \`SONDE_CONFIG\` names (empty: none), else
\`$XDG_CONFIG_HOME/sonde/sonde.yaml\` (\`~/.config\` where that is not set), else \`/etc/sonde/sonde.yaml\`, where there is one.

**What counts.** The command line over the environment over the file over the default. Every key but those of \`data_sources\`
has a variable: \`SONDE_\` and the key path in capitals, \`SONDE_EXPORT_PROMETHEUS_PORT\`; a list is separated by commas, and so is \`name=value\`. An
empty variable is not there. \`npx sonde config\` prints the values that hold, each with its origin; what it prints can be used as a file, but for secrets, which it does not show.

The variables of the DOCA Telemetry guide and of [the recipe for Kubernetes](doca.md) give keys of \`export.prometheus\`: \`PROMETHEUS_ENDPOINT\` (\`http://host:port\` or \`host:port\`) gives \`host\` and
\`port\`, ${guide}. What \`SONDE_…\` says of the same key counts more.

The recipe changes \`data_sources\`, too. \`TELEMETRY_INTERVAL_MS\` is the \`interval_ms\` of every source that has none of its own, \`DOCA_DEVICES\` (names
with commas between) the \`devices\` of every \`doca_…\` source. ${switches} add their source where \`true\` or \`1\`, and switch it off where \`false\` or \`0\`.

**What is wrong.** An unknown key, a wrong type, a value out of range, a name that is there twice, a file that cannot be read, a
variable that is nearly the name of a setting: all of them at once, one line each, exit code 2, and nothing is started. A file has at
most 1 MiB and 32 levels; of its faults the first 32 are said, and how many more there are:

\`\`\`
sonde: sonde.yaml:7: export.prometheus.port is 70000; allowed: a whole number from 0 to 65535 (0 is any free port)
sonde: sonde.yaml:9: stor is an unknown key, with {} (did you mean store?); allowed: ${['data_sources', ...Object.keys(ROOM_SCHEMAS)].join(', ')}
\`\`\`

**In an editor.** \`npx sonde config --schema > sonde.schema.json\` writes a JSON Schema; with
\`# yaml-language-server: $schema=sonde.schema.json\` as first line of the file, editors check and complete while you type.

In Kubernetes, a Service named \`sonde\` puts variables such as \`SONDE_SERVICE_HOST\` into every pod of its namespace. They are no settings
and are left alone.
`

const ABOUT: Readonly<Record<keyof typeof ROOM_SCHEMAS, string>> = {
  paths: 'Where the kernel is read. `--path.procfs` and `--path.sysfs` set them, too.',
  native: 'Libraries of vendors, which child processes of the agent load.',
  export:
    'What leaves the node. `--listen HOST:PORT` sets `host` and `port` of the listener; the page and the API are on the same address.',
  service: 'The socket over which applications of this machine report to the agent.',
  store: 'History on disk, for `sonde up`. `--data-dir` sets `dir`.',
  console:
    'The console without an agent, `sonde console`. `--listen HOST:PORT` sets `host` and `port`, `--prometheus` the address of the history.',
  traceback: 'Rules on what is sampled, and the events that they open, each a file that `sonde read` reads.',
  limits: 'What the agent may use. Whatever goes over a limit is counted, and shown in `/metrics`.',
  log: 'Lines of JSON on stderr. `--log-level` sets `level`.',
}

/** The page as text. */
export function configurationPage(): string {
  const rooms = Object.entries(ROOM_SCHEMAS).map(([key, schema]) => {
    const leaves = leavesOf(schema, [key])
    const head = `## ${key}\n\n${ABOUT[key as keyof typeof ROOM_SCHEMAS]}\n\n`
    return head + (key === 'export' ? exportSection(leaves) : table(leaves))
  })
  return [INTRODUCTION, sourcesSection(), ...rooms].join('\n')
}

/** The listener, then what all destinations have, then each kind of them. */
function exportSection(leaves: readonly Leaf[]): string {
  const ofBlock = (name: string) => leaves.filter(({ path }) => path[1] === name)
  const isCommon = ({ path }: Leaf) => COMMON_KEYS.includes(path[2] ?? '')
  const kinds = SINKS.map(({ name, summary }) => {
    const own = ofBlock(name).filter((leaf) => !isCommon(leaf))
    return `### ${name}\n\n${summary}: [its page](../packages/sdk/src/sinks/${name.replaceAll('_', '-')}/README.md).\n\n${table(own)}`
  })
  const common = ofBlock(SINKS[0]?.name ?? '').filter(isCommon)
  const shared = common.map((leaf) => ({ ...leaf, path: ['export', 'KIND', ...leaf.path.slice(2)] }))
  return `${table(ofBlock('prometheus'))}
### Every destination

Each kind below is a block, or a list of at most 16: [destinations](destinations.md). A variable gives a key of a block, not of a list.

${table(shared)}
${kinds.join('\n')}
### fluent_bit

Taken, so that [the recipe's configuration](doca.md) runs as it is. This version sends nothing there, and says so.

${table(ofBlock('fluent_bit'))}`
}

function sourcesSection(): string {
  const kinds = SOURCES.map((definition) => {
    const leaves = leavesOf(dataSourceSchema(definition), [])
    return `### ${definition.name}\n\n${definition.summary}. Fields: [its page](../packages/agent/src/sources/${definition.name.replaceAll('_', '-')}/README.md).\n\n${table(leaves)}`
  })
  return `## data_sources

A list of at most 256 sources. Left out, every kind runs once. A kind may be there several times under different names, say to read
some devices more often than others.

${kinds.join('\n')}`
}

function table(leaves: readonly Leaf[]): string {
  const rows = leaves.map((leaf) => {
    return `| \`${leaf.path.join('.')}\` | ${cell(leaf.description)} | ${cell(leaf.allowed)} | ${fallbackOf(leaf)} |`
  })
  return ['| Key | What it is for | Allowed | Default |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function fallbackOf({ fallback, path, allowed, isNeeded }: Leaf): string {
  if (isNeeded || path.at(-1) === 'type') return 'must be given'
  if (fallback === undefined) return 'see there'
  if (typeof fallback === 'object' && Object.keys(fallback ?? {}).length === 0) return 'empty'
  const text = `\`${Array.isArray(fallback) ? fallback.join(', ') : String(fallback)}\``
  return typeof fallback === 'number' && /\bbytes\b/.test(allowed) ? `${text} (${binarySize(fallback)})` : text
}

function binarySize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${bytes / 2 ** (10 * power)} ${units[power]}`
}
