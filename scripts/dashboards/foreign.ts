// Expressions of dashboards that others made for dcgm-exporter and node_exporter, and what they give over Sonde.

/** An expression, and its result over `/metrics` of Sonde. */
export interface ForeignExpression {
  readonly expr: string
  /** The same with names of Sonde, where the name differs; undefined: the expression has data as it is. */
  readonly ours?: string
  /** Why there is no data, and no other name helps. */
  readonly reason?: string
}

/** Expressions of a dashboard. */
export interface ForeignDashboard {
  readonly title: string
  /** Where the expressions are from. */
  readonly source: string
  readonly expressions: readonly ForeignExpression[]
}

const GPU_HOST = 'instance="$hostname:9400"'
const HOST = 'instance="$hostname:9100"'
const NODE = 'instance=~"$node:$port",job=~"$job"'
const CLUSTER = 'cluster=~"$cluster"'

/** Names of node_exporter in these expressions, with those of Sonde. */
const NAMES: readonly (readonly [theirs: string, ours: string])[] = [
  ['node_memory_MemTotal_bytes', 'host_memory_total_bytes'],
  ['node_memory_MemFree_bytes', 'host_memory_free_bytes'],
  ['node_memory_MemAvailable_bytes', 'host_memory_available_bytes'],
  ['node_memory_Buffers_bytes', 'host_memory_buffers_bytes'],
  ['node_memory_Cached_bytes', 'host_memory_cached_bytes'],
  ['node_network_transmit_bytes_total', 'netdev_tx_bytes_total'],
  ['node_network_receive_bytes_total', 'netdev_rx_bytes_total'],
  ['node_disk_read_bytes_total', 'host_disk_read_bytes_total'],
  ['node_disk_written_bytes_total', 'host_disk_written_bytes_total'],
  ['node_cpu_seconds_total', 'host_cpu_seconds_total'],
  ['node_load', 'host_load'],
]

/** An expression over node_exporter, also with the names of Sonde. */
function renamed(expr: string): ForeignExpression {
  return { expr, ours: NAMES.reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), expr) }
}

const used = (matchers: string) =>
  ['MemTotal', 'MemFree', 'Buffers', 'Cached'].map((name) => `node_memory_${name}_bytes{${matchers}}`).join(' - ')
const cpus = `count(count(node_cpu_seconds_total{${NODE}}) by (cpu))`

export const FOREIGN: readonly ForeignDashboard[] = [
  {
    title: 'DeepOps, GPU dashboard',
    source: 'https://github.com/NVIDIA/deepops/blob/master/src/dashboards/gpu-dashboard.json',
    expressions: [
      ...['POWER_USAGE', 'GPU_TEMP', 'GPU_UTIL', 'MEM_COPY_UTIL'].map((name) => {
        return { expr: `DCGM_FI_DEV_${name}{${GPU_HOST}}` }
      }),
      { expr: `sum(DCGM_FI_DEV_POWER_USAGE{${GPU_HOST}})` },
      { expr: `avg(DCGM_FI_DEV_GPU_UTIL{${GPU_HOST}})` },
      { expr: `sum(rate(DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{${GPU_HOST}}[$__interval]))` },
      ...['1', '5', '15'].map((minutes) => renamed(`node_load${minutes}{${HOST}}`)),
      renamed(used(HOST)),
      ...['Buffers', 'Cached', 'MemFree'].map((name) => renamed(`node_memory_${name}_bytes{${HOST}}`)),
      renamed(`((${used(HOST)}) / node_memory_MemTotal_bytes{${HOST}}) * 100`),
      renamed(`sum(rate(node_network_transmit_bytes_total{${HOST},device=~"en.*"}[$__interval]))`),
      renamed(`sum(rate(node_network_receive_bytes_total{${HOST},device=~"en.*"}[$__interval]))`),
      renamed(`rate(node_disk_read_bytes_total{${HOST}}[$__interval])`),
      renamed(`rate(node_disk_written_bytes_total{${HOST}}[$__interval])`),
      {
        expr: `sum by (instance) (rate(node_disk_io_time_ms{${HOST}}[$__interval]))`,
        reason: 'a name of node_exporter before 0.16, which newer versions do not have either',
      },
    ],
  },
  {
    title: 'Nebius Soperator, GPU cluster',
    source:
      'https://github.com/nebius/soperator/blob/main/helm/soperator-monitoring-dashboards/dashboards/gpu_cluster_stats.json',
    expressions: [
      { expr: `count(DCGM_FI_DEV_POWER_USAGE{${CLUSTER}})` },
      { expr: `avg_over_time((count(DCGM_FI_DEV_FB_USED{${CLUSTER}} > 100))[$__range:])` },
      {
        expr: `count(DCGM_FI_DEV_FB_USED{${CLUSTER}} <= 100)`,
        reason: 'data while a GPU is idle',
      },
      { expr: `avg(avg_over_time(DCGM_FI_PROF_SM_ACTIVE{${CLUSTER}}[$__range])) * 100` },
      { expr: `sum(avg_over_time(DCGM_FI_DEV_POWER_USAGE{${CLUSTER}}[$__range])) / 1000` },
      { expr: `avg(DCGM_FI_PROF_SM_ACTIVE{${CLUSTER}}) * 100` },
      { expr: `quantile(0.95, DCGM_FI_PROF_SM_ACTIVE{${CLUSTER}}) * 100` },
      { expr: `max(DCGM_FI_PROF_SM_ACTIVE{${CLUSTER}}) * 100` },
      { expr: `count(DCGM_FI_DEV_FB_USED{${CLUSTER}} > 100)` },
    ],
  },
  {
    title: 'Node Exporter Full, the first row',
    source: 'https://github.com/rfmoz/grafana-dashboards/blob/master/prometheus/node-exporter-full.json',
    expressions: [
      renamed(
        `(((${cpus}) - avg(sum by (mode)(irate(node_cpu_seconds_total{mode='idle',${NODE}}[5m])))) * 100) / ${cpus}`,
      ),
      renamed(`100 - ((node_memory_MemAvailable_bytes{${NODE}} * 100) / node_memory_MemTotal_bytes{${NODE}})`),
      ...['1', '5'].map((minutes) => renamed(`avg(node_load${minutes}{${NODE}}) /  ${cpus} * 100`)),
      renamed(cpus),
    ],
  },
]

/** The table of the page. */
export function foreignSection(): string {
  const parts = FOREIGN.map(({ title, source, expressions }) => {
    const rows = expressions.map(({ expr, ours, reason }) => {
      const result = reason ?? (ours === undefined ? 'data' : 'data under another name, below')
      const other = ours === undefined ? '' : `<br>\`${ours.replaceAll('|', '\\|')}\``
      return `| \`${expr.replaceAll('|', '\\|')}\`${other} | ${result} |`
    })
    return [`### ${title}`, '', `From <${source}>.`, '', '| Expression | Over Sonde |', '|---|---|', ...rows].join('\n')
  })
  return `## Dashboards of others

Dashboards for dcgm-exporter work over \`/metrics\` of Sonde: names and labels are the same. NVIDIA's dashboard has
[its own test](gpu.md#dashboards-made-for-the-exporter). Dashboards for node_exporter need other names:
[metrics](metrics.md) has each, and beside a node_exporter they work as they are. A test runs every expression below;
where two stand, the second has the names of Sonde.

${parts.join('\n\n')}
`
}
