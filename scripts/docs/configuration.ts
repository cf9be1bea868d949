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

Sonde runs without a configuration: every source once, on loopback, with history in the usual place. One YAML file
changes these defaults:

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

The file is that of \`--config\`, else of \`SONDE_CONFIG\` (empty: none), else \`$XDG_CONFIG_HOME/sonde/sonde.yaml\`
(default \`~/.config\`), else \`/etc/sonde/sonde.yaml\`, if it exists.

**Precedence.** The command line overrides the environment, which overrides the file, which overrides the default. Every
key except those of \`data_sources\` has a variable: \`SONDE_\` and the key path in capitals, such as
\`SONDE_EXPORT_PROMETHEUS_PORT\`. Commas separate the entries of a list and the pairs \`name=value\`. An empty variable is
ignored. \`npx sonde config\` prints the effective values with their origins. Its output can be used as a file, except for
secrets, which it hides.

The variables of the DOCA Telemetry guide and of [the recipe for Kubernetes](doca.md) set keys of \`export.prometheus\`:
\`PROMETHEUS_ENDPOINT\` (\`http://host:port\` or \`host:port\`) sets \`host\` and \`port\`, ${guide}. A variable \`SONDE_…\` of
the same key overrides them.

The recipe also changes \`data_sources\`. \`TELEMETRY_INTERVAL_MS\` is the \`interval_ms\` of every source without its own,
\`DOCA_DEVICES\` (names separated by commas) the \`devices\` of every \`doca_…\` source. ${switches} add their source if
\`true\` or \`1\`, and switch it off if \`false\` or \`0\`.

**Faults.** Sonde reports an unknown key, a wrong type, a value out of range, a repeated name, an unreadable file, and a
variable that almost has the name of a setting. It reports all of them at once, one line each, with exit code 2, and starts
nothing. A file has at most 1 MiB and 32 levels. The first 32 faults of a file are listed, with the number of the others:

\`\`\`
sonde: sonde.yaml:7: export.prometheus.port is 70000; allowed: a whole number from 0 to 65535 (0 is any free port)
sonde: sonde.yaml:9: stor is an unknown key, with {} (did you mean store?); allowed: ${['data_sources', ...Object.keys(ROOM_SCHEMAS)].join(', ')}
\`\`\`

**In an editor.** \`npx sonde config --schema > sonde.schema.json\` writes a JSON Schema; with
\`# yaml-language-server: $schema=sonde.schema.json\` as first line of the file, editors check and complete while you type.

In Kubernetes, a Service named \`sonde\` puts variables such as \`SONDE_SERVICE_HOST\` into every pod of its namespace. They are not
settings, and are ignored.
`

const ABOUT: Readonly<Record<keyof typeof ROOM_SCHEMAS, string>> = {
  paths: "The roots of the kernel's files. `--path.procfs` and `--path.sysfs` set them too.",
  native: 'Libraries of vendors, which child processes of the agent load.',
  export:
    'The listener and the destinations. `--listen HOST:PORT` sets `host` and `port` of the listener; the page and the API are on the same address.',
  service: 'The socket over which applications of this machine report to the agent.',
  store: 'History on disk, for `sonde up`. `--data-dir` sets `dir`.',
  console:
    'The console without an agent, `sonde console`. `--listen HOST:PORT` sets `host` and `port`, `--prometheus` the address of the history. `webhooks` holds for `sonde up` and `sonde agent`, too.',
  access:
    'Logins: who may use the page and the API. [Access](access.md) shows how. A server that listens on loopback needs none.',
  kubernetes:
    'Services that KEDA scales. `autoscale` is a block for each service and trigger, or a list of at most 256. Only `sonde manifests autoscale` uses it: [autoscaling](autoscale.md).',
  traceback: 'Rules on samples, and their events. Each event is a file that `sonde read` reads.',
  limits: 'Limits of the agent. Everything beyond a limit is counted, and shown in `/metrics`.',
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

/** The listener, then the keys of all destinations, then each kind of destination. */
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

Each kind below is a block, or a list of at most 16: [destinations](destinations.md). A variable sets a key of a block, not of a list.

${table(shared)}
${kinds.join('\n')}`
}

function sourcesSection(): string {
  const kinds = SOURCES.map((definition) => {
    const leaves = leavesOf(dataSourceSchema(definition), [])
    return `### ${definition.name}\n\n${definition.summary}. Fields: [its page](../packages/agent/src/sources/${definition.name.replaceAll('_', '-')}/README.md).\n\n${table(leaves)}`
  })
  return `## data_sources

A list of at most 256 sources. Without it, every kind runs once. A kind may occur several times under different
names, for example to read some devices more often than others.

${kinds.join('\n')}`
}

function table(leaves: readonly Leaf[]): string {
  const rows = leaves.map((leaf) => {
    return `| \`${leaf.path.join('.')}\` | ${cell(leaf.description)} | ${cell(leaf.allowed)} | ${fallbackOf(leaf)} |`
  })
  return ['| Key | Purpose | Allowed | Default |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function fallbackOf({ fallback, path, allowed, isNeeded }: Leaf): string {
  if (isNeeded || path.at(-1) === 'type') return 'required'
  if (fallback === undefined) return 'see purpose'
  if (typeof fallback === 'object' && Object.keys(fallback ?? {}).length === 0) return 'empty'
  const text = `\`${Array.isArray(fallback) ? fallback.join(', ') : String(fallback)}\``
  return typeof fallback === 'number' && /\bbytes\b/.test(allowed) ? `${text} (${binarySize(fallback)})` : text
}

function binarySize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${bytes / 2 ** (10 * power)} ${units[power]}`
}
