// Expressions of dashboards that others made for dcgm-exporter and node_exporter, and what they give over Sonde.

import { NODE_EXPORTER_FULL, nodeExporterFull } from './node-exporter-full.ts'
import { readMetrics, withOurNames } from './our-names.ts'

/** An expression, and its result over `/metrics` of Sonde. */
export interface ForeignExpression {
  readonly expr: string
  /** The same with names of Sonde, where the name differs; undefined: the expression has data as it is. */
  readonly ours?: string
  /** Why there is no data, and no other name helps. */
  readonly reason?: string
  /** When it has data: its result is empty at other times. */
  readonly condition?: string
}

/** Expressions of a dashboard. */
export interface ForeignDashboard {
  readonly title: string
  /** Where the expressions are from. */
  readonly source: string
  /** What a reader should know. */
  readonly about?: string
  readonly expressions: readonly ForeignExpression[]
}

/** A row of Node Exporter Full. */
export interface NodeRow {
  readonly title: string
  readonly expressions: readonly ForeignExpression[]
}

/** Reasons of single expressions. */
const REASONS: readonly (readonly [part: string, reason: string])[] = [
  ['node_disk_io_time_ms', 'a name of node_exporter before 0.16, which newer versions do not have either'],
  ['operstate="up"', 'a label that node_exporter does not have either; `netdev_up` without it has data'],
]

/** Conditions of single expressions: they drop what does not meet them. */
const CONDITIONS: readonly (readonly [part: string, condition: string])[] = [
  ['<= 100', 'a GPU is idle'],
  ['node_cpu_guest_seconds_total', 'a guest runs'],
]

/** What NVML and the profiler give in place of a field of DCGM that dcgm-exporter no longer exports by default. */
const THROUGHPUT = /rate\(DCGM_FI_DEV_PCIE_([TR]X)_THROUGHPUT(\{[^}]*\})\[\$__interval\]\)/

function foreign(expr: string): ForeignExpression {
  const reason = REASONS.find(([part]) => expr.includes(part))?.[1]
  if (reason !== undefined) return { expr, reason }
  if (THROUGHPUT.test(expr)) return { expr, ours: expr.replace(THROUGHPUT, 'DCGM_FI_PROF_PCIE_$1_BYTES$2') }
  const condition = CONDITIONS.find(([part]) => expr.includes(part))?.[1]
  return { expr, ...withOurNames(expr), ...(condition === undefined ? {} : { condition }) }
}

const GPU_HOST = 'instance="$hostname:9400"'
const HOST = 'instance="$hostname:9100"'
const CLUSTER = 'cluster=~"$cluster"'

const gpu = (name: string) => `DCGM_FI_DEV_${name}{${GPU_HOST}}`
const host = (metric: string, more = '') => `node_${metric}{${more}${HOST}}`
const hostMemory = (name: string) => host(`memory_${name}_bytes`)
const used = ['MemTotal', 'MemFree', 'Buffers', 'Cached'].map(hostMemory).join(' - ')
const allDisks = (name: string) => `sum(${host(`filesystem_${name}_bytes`, 'device!="rootfs",')})`
const perSecond = (selector: string) => `rate(${selector}[$__interval])`
const dev = (name: string) => `DCGM_FI_DEV_${name}{${CLUSTER}}`
const prof = (name: string) => `DCGM_FI_PROF_${name}{${CLUSTER}}`
const percent = (aggregation: string, name: string) => `${aggregation}(${prof(name)}) * 100`

const DEEPOPS = [
  ...['POWER_USAGE', 'GPU_TEMP', 'GPU_UTIL', 'MEM_COPY_UTIL'].map(gpu),
  `sum(${gpu('POWER_USAGE')})`,
  ...['GPU_TEMP', 'GPU_UTIL', 'MEM_COPY_UTIL'].map((name) => `avg(${gpu(name)})`),
  ...['SM_CLOCK', 'MEM_CLOCK'].map((name) => `avg(${gpu(name)}*1000000)`),
  `${gpu('FB_USED')}/(${gpu('FB_USED')}+${gpu('FB_FREE')})`,
  ...['NVLINK_BANDWIDTH_TOTAL', 'PCIE_TX_THROUGHPUT', 'PCIE_RX_THROUGHPUT'].map(
    (name) => `sum(${perSecond(gpu(name))})`,
  ),
  ...['load1', 'load5', 'load15'].map((name) => host(name)),
  used,
  ...['Buffers', 'Cached', 'MemFree'].map(hostMemory),
  `((${used}) / ${hostMemory('MemTotal')}) * 100`,
  `(${allDisks('size')} - ${allDisks('avail')}) / ${allDisks('size')}`,
  ...['transmit', 'receive'].map((side) => `sum(${perSecond(host(`network_${side}_bytes_total`, 'device=~"en.*",'))})`),
  ...['transmitted', 'received'].map((way) => `sum(${perSecond(host(`infiniband_port_data_${way}_bytes_total`))})`),
  ...['disk_read_bytes_total', 'disk_written_bytes_total'].map((name) => perSecond(host(name))),
  `sum by (instance) (${perSecond(host('disk_io_time_ms'))})`,
  host('uname_info'),
  host('hwmon_power_average_watt'),
]

const NEBIUS = [
  `count(count by (Hostname) (${dev('POWER_USAGE')}))`,
  `count(${dev('POWER_USAGE')})`,
  ...['> 100', '<= 100'].map((limit) => `avg_over_time((count(${dev('FB_USED')} ${limit}))[$__range:])`),
  ...['> 100', '<= 100'].map((limit) => `count(${dev('FB_USED')} ${limit})`),
  `avg(avg_over_time(${prof('SM_ACTIVE')}[$__range])) * 100`,
  `avg by (Hostname) (avg_over_time(${prof('SM_ACTIVE')}[$__range])) * 100`,
  ...['avg', 'max', 'avg by (Hostname) '].map((aggregation) => percent(aggregation, 'SM_ACTIVE')),
  `quantile(0.95, ${prof('SM_ACTIVE')}) * 100`,
  ...['avg', 'max'].map((aggregation) => percent(aggregation, 'PIPE_TENSOR_ACTIVE')),
  percent('avg', 'SM_OCCUPANCY'),
  `sum(avg_over_time(${dev('POWER_USAGE')}[$__range])) / 1000`,
  `sum(${dev('POWER_USAGE')}) / 1000`,
  ...['avg', 'min'].map((aggregation) => `${aggregation}(${dev('GPU_UTIL')})`),
  ...['FB_USED', 'FB_FREE'].map((name) => `sum(${dev(name)})`),
  ...['GPU_TEMP', 'MEMORY_TEMP'].flatMap((name) => ['max', 'avg'].map((aggregation) => `${aggregation}(${dev(name)})`)),
  `max by (Hostname) (max_over_time(${dev('GPU_TEMP')}[$__range]))`,
]

const ofPods = (metric: string, pods = 'pod!=""') => `DCGM_FI_${metric}{${pods},namespace="dynamo-system"}`
const PREFILL = 'pod=~".*prefill.*"'
const DECODE = 'pod=~".*decode.*"'
const decode = (name: string) => ofPods(`DEV_${name}`, DECODE)

const DYNAMO = [
  ...[PREFILL, DECODE].map((pods) => ofPods('PROF_GR_ENGINE_ACTIVE', pods)),
  ...['PIPE_TENSOR_ACTIVE', 'DRAM_ACTIVE', 'PCIE_TX_BYTES', 'PCIE_RX_BYTES'].map((name) => ofPods(`PROF_${name}`)),
  ...['FB_USED', 'POWER_USAGE'].map((name) => ofPods(`DEV_${name}`)),
  `sum(${ofPods('PROF_GR_ENGINE_ACTIVE', PREFILL)})`,
  `avg(${decode('FB_USED')} / (${decode('FB_USED')} + ${decode('FB_FREE')}))`,
]

export const FOREIGN: readonly ForeignDashboard[] = [
  {
    title: 'dcgm-exporter, dashboards for Dynamo',
    source: 'https://github.com/NVIDIA/dcgm-exporter/tree/main/grafana',
    about: `Three dashboards select GPUs by \`pod\`. They need a dcgm-exporter that names pods, whose series Sonde passes on
with [\`export: true\`](gpu.md#add-the-exporters); these expressions ran over its captured pages. Their other expressions
read kube-state-metrics, KEDA, and rules of their own.`,
    expressions: DYNAMO.map(foreign),
  },
  {
    title: 'DeepOps, GPU dashboard',
    source: 'https://github.com/NVIDIA/deepops/blob/master/src/dashboards/gpu-dashboard.json',
    about: `Its older copy reads names of dcgm-exporter 1 and of collectd, which no present exporter has.`,
    expressions: DEEPOPS.map(foreign),
  },
  {
    title: 'Nebius Soperator, GPU cluster',
    source:
      'https://github.com/nebius/soperator/blob/main/helm/soperator-monitoring-dashboards/dashboards/gpu_cluster_stats.json',
    expressions: NEBIUS.map(foreign),
  },
]

export const NODE_ROWS: readonly NodeRow[] = nodeExporterFull().map(({ title, expressions }) => {
  return { title, expressions: expressions.map(foreign) }
})

const countOf = (all: readonly ForeignExpression[]) => `${all.filter(works).length} of ${all.length} expressions`
const works = ({ reason }: ForeignExpression) => reason === undefined
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

/** The part of the page. */
export function foreignSection(): string {
  const parts = FOREIGN.map(({ title, source, about, expressions }) => {
    const rows = expressions.map(({ expr, ours, reason, condition }) => {
      const data = condition === undefined ? 'data' : `data while ${condition}`
      const result = reason ?? (ours === undefined ? data : `${data} under another name, below`)
      return `| ${code(expr)}${ours === undefined ? '' : `<br>${code(ours)}`} | ${result} |`
    })
    const head = [`### ${title}`, `From <${source}>.`, ...(about === undefined ? [] : [about])]
    const table = [
      `${countOf(expressions)} have data:`,
      ['| Expression | Over Sonde |', '|---|---|', ...rows].join('\n'),
    ]
    return [...head, ...table].join('\n\n')
  })
  return `## Dashboards of others

Dashboards for dcgm-exporter work over \`/metrics\` of Sonde: names and labels are the same. NVIDIA's dashboard has
[its own test](gpu.md#dashboards-made-for-the-exporter). Dashboards for node_exporter need other names:
[metrics](metrics.md) has each, and beside a node_exporter they work as they are. A test runs every expression below;
where two stand, the second has the names of Sonde.

${parts.join('\n\n')}

${nodeSection()}
`
}

/** Node Exporter Full by metrics, each in the first row that reads it. */
function nodeSection(): string {
  const all = NODE_ROWS.flatMap(({ expressions }) => expressions)
  const seen = new Set<string>()
  const lines = NODE_ROWS.flatMap(({ title, expressions }) => {
    const metrics = expressions
      .flatMap(({ expr }) => readMetrics(expr))
      .filter(({ theirs }) => {
        return !seen.has(theirs) && seen.add(theirs)
      })
    const reasons = new Map<string, string[]>()
    for (const { theirs, reason } of metrics)
      if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), code(theirs)])
    const named = metrics.flatMap(({ theirs, ours }) =>
      ours === undefined ? [] : [`| ${code(theirs)} | ${code(ours)} |`],
    )
    const without = Array.from(reasons, ([reason, names]) => `| ${names.join(', ')} | ${reason} |`)
    return [`| **${title}** | **${expressions.filter(works).length} of ${expressions.length}** |`, ...named, ...without]
  })
  return `### Node Exporter Full

From <${NODE_EXPORTER_FULL}>.

${countOf(all)} have data under Sonde's names. The table has the rows of the dashboard.
Each begins with the number of its expressions that have data. Below are the metrics that no row above reads, with the
metric of Sonde or the reason why there is none.

| node_exporter | Sonde |
|---|---|
${lines.join('\n')}`
}
