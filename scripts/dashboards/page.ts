// The page docs/dashboards.md: panels and queries of each dashboard.

import { DASHBOARDS } from './dashboards.ts'
import type { DashboardDescription, PanelDescription } from './description.ts'
import { foreignSection } from './foreign.ts'
import { GPUS_OF_PODS, USUAL_NAMES } from './gpu-names.ts'
import { WITHOUT_DATA } from './without-data.ts'

const INTRODUCTION = `# Dashboards

<!-- Made by \`npm run docs\` from scripts/dashboards; do not edit. -->

[\`deploy/grafana\`](../deploy/grafana/README.md) has a dashboard for each subject, for Grafana 11 and newer over a
Prometheus that scrapes Sonde, dcgm-exporter, or both. Their UIDs never change: the page of Sonde
[links to them](grafana.md#links).

* **Variables.** \`rack\` is the label \`cluster\`, \`node\` the label \`instance\`. \`app\`, \`service\`, \`namespace\` and
  \`rack\` have the names of the [parameters](params.md) \`grafana_dashboard_var_…\`. *All* also takes series without the
  label.
* **Names.** Queries take both names of a metric and of a label: those of dcgm-exporter before and since DCGM 4.6,
  \`pod\`, \`exported_pod\` and \`pod_name\`, and the pods that Sonde reports in series of their own. The tables below
  have only the usual name; \`pods_of(…)\` stands for the join with pods.
* **Nothing to show.** A panel without data says why. It shows no error, and never a 0 that nobody measured.
* **Long windows.** Charts of a whole cluster read the [recorded series](scale.md#recording-rules), which
  \`rules/cluster.yaml\` makes: a window of days over 1 000 nodes stays below the limit of Prometheus.
* **Events.** Alerts are annotations. Incidents, which are hints and events of traceback, are annotations too:
  [Grafana](grafana.md#annotations) has the data source, and the switch is at the top of the dashboard.

\`+\` in a table is a query of the same panel.

`

/** The page as text. */
export function dashboardsPage(): string {
  const reasons = Object.entries(WITHOUT_DATA).map(([place, reason]) => `| ${place} | ${reason} |`)
  return `${INTRODUCTION}${DASHBOARDS.map(section).join('\n')}${WITHOUT}${reasons.join('\n')}\n\n${foreignSection()}`
}

const WITHOUT = `
## Queries that were tested without data

[A test](../test/dashboards/dashboards.test.ts) runs every query on a real Prometheus over a simulated node, a captured
host, the double of DOCA and captured pages of dcgm-exporter. All have data, except lists of what is wrong, which say
*None* on a healthy node, and:

| Query | Reason |
|---|---|
`

function section({ uid, title, about, variables, rows }: DashboardDescription): string {
  const names = variables.map(({ name }) => `\`${name}\``).join(', ')
  const lines = rows.flatMap((row) => [`| **${row.title}** | | |`, ...row.panels.map(lineOf)])
  const head = ['| Panel | Unit | Queries |', '|---|---|---|']
  return [`## ${title}`, '', `UID \`${uid}\`, variables ${names}.`, about, '', ...head, ...lines, ''].join('\n')
}

function lineOf({ title, unit, targets }: PanelDescription): string {
  const queries = targets.map(({ expr }) => `\`${shortened(expr).replaceAll('|', '\\|')}\``)
  return `| ${title} | \`${unit}\` | ${queries.join(' + ')} |`
}

const RANGES: readonly ((selector: string) => string)[] = [
  (selector) => selector,
  (selector) => `rate(${selector}[$__rate_interval])`,
  (selector) => `increase(${selector}[1h])`,
]

/** A query with the usual name of each metric, and without the join with pods. */
function shortened(expr: string): string {
  let text = expr
  for (const [metric] of expr.matchAll(/\bDCGM_\w+/g))
    for (const fn of RANGES) text = text.replaceAll(GPUS_OF_PODS(metric, fn), `pods_of(${fn(metric)})`)
  for (const [names, usual] of USUAL_NAMES) text = text.replaceAll(`{${names},`, `${usual}{`)
  return text
}
