// The page docs/metrics.md, from the types that Sonde declares and from a table of names elsewhere.

import { DCGM_FIELDS } from '../../packages/agent/src/sources/dcgm-exporter/fields.ts'
import { type DeclaredMetric, type DeclaredType, declaredTypes } from './metric-list.ts'
import { NAMES_ELSEWHERE, type NamesElsewhere } from './names-elsewhere.ts'

const INTRODUCTION = `# Metrics

<!-- Made by \`npm run docs\` from the types; do not edit. -->

Every metric that Sonde declares, by the type of its records. Applications add [types of their own](telemetry-api.md).

* A metric is named \`<type>_<field>\`, in base units, with the unit at the end, and \`_total\` after it for a counter.
  Metrics of the same kind of device have the same labels. [Prometheus](prometheus.md) says how a name comes about.
* Names that other systems gave stay as they are: those of DCGM (\`DCGM_FI_…\`), with its units and its labels, and four
  of the DOCA recipe. Dashboards and rules for these systems then work.
* A value that is not available is absent, never 0. The page, the API and \`sonde explain\` give the reason.
* The class says how widely a metric is sent: \`core\` is the small set that alerts, hints, dashboards and the pages of a
  cluster need, \`full\` is everything. Each destination has [its set](destinations.md#sets-and-intervals).
* Names are stable. A test compares them with a list, and a change is a decision that the changelog names.

*Elsewhere* names the same quantity in node_exporter, dcgm-exporter and OpenTelemetry (\`system.*\` and \`hw.*\`, both in
development), and says why the name here differs. It is empty if no such name is known.
`

/** The page as text. */
export function metricsPage(): string {
  return `${INTRODUCTION}\n${declaredTypes().map(sectionOf).join('\n')}`
}

function sectionOf(declared: DeclaredType): string {
  const { type, sources, metrics } = declared
  const labels = type.labels.flatMap(({ name, field: { help = '' } }) => {
    return wrapped(`* Label \`${name}\`${help === '' ? '' : `: ${help}`}`, '  ')
  })
  const rows = metrics.map((metric) => {
    const { name, kind, unit, help } = metric
    const cells = [kind, classOf(metric), unit, cellOf(help), elsewhere(declared, metric)]
    return `| \`${name}\`${constantLabels(metric)} | ${cells.join(' | ')} |`
  })
  const by = sources.length === 0 ? 'the agent itself' : sources.map((name) => `\`${name}\``).join(', ')
  return [
    `## \`${type.name}\``,
    '',
    ...wrapped(`${type.description}. Reported by ${by}.`),
    '',
    ...labels,
    ...(labels.length === 0 ? [] : ['']),
    '| Metric | Type | Class | Unit | Meaning | Elsewhere |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Names and values of constant labels, in braces behind the name. */
function constantLabels({ constant }: DeclaredMetric): string {
  const labels = Array.from(constant, ([label, values]) => `\`${label}\`: ${values.map((v) => `\`${v}\``).join(', ')}`)
  return labels.map((text) => ` (${text})`).join('')
}

/** `core`, `full`, or the constant labels of the part that is in the core set. */
function classOf({ classes }: DeclaredMetric): string {
  const core = classes.get('core')
  if (core === undefined) return 'full'
  return classes.has('full') ? `core: \`${core.join(', ')}\`` : 'core'
}

/** Names of the same quantity elsewhere, and why ours differs. */
function elsewhere({ type }: DeclaredType, { name, field }: DeclaredMetric): string {
  const names: NamesElsewhere = NAMES_ELSEWHERE[name] ?? {}
  const dcgm = names.dcgm ?? dcgmName(type.name, field)
  const { node = [], otel, why = dcgm === undefined ? '' : 'base unit, unit in the name' } = names
  const listed = [
    ['node_exporter', node.length === 0 ? undefined : node.join('`, `')],
    ['DCGM', dcgm === name ? undefined : dcgm],
    ['OpenTelemetry', otel],
  ].flatMap(([system, other]) => (other === undefined ? [] : [`${system} \`${other}\``]))
  return listed.length === 0 ? '' : `${listed.join(', ')}${why === '' ? '' : `: ${why}`}`
}

/** The metric of dcgm-exporter that fills a field. */
function dcgmName(type: string, field: string): string | undefined {
  const found = DCGM_FIELDS.find(({ target }) => target.type.name === type && target.field === field)
  return found === undefined ? undefined : `DCGM_FI_${found.names[0]}`
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|')
}

/** Lines of at most 120 characters; all but the first are indented. */
function wrapped(text: string, indent = ''): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= 120) {
      lines.push(line)
      line = indent + word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
