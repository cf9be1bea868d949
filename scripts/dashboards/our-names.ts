// Expressions over node_exporter, with the names of Sonde.

import { leftOutReason } from '../docs/node-exporter-left-out.ts'
import { COMPARED, NOT_COMPARED } from '../docs/node-exporter-names.ts'

/** A metric of node_exporter in an expression, with what chooses its series. */
const SELECTOR = /\b((?:node|process)_\w+)(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'[^']*')/g

/** The name of a chip is a label of ours, so that nothing needs to be joined. */
const CHIP_NAMES = / \* on\(chip\) group_left\(chip_name\) node_hwmon_chip_names\{[^}]*\}/g

/** Labels of ours for labels of theirs, by the beginning of the metric. */
const LABELS: readonly (readonly [theirs: string, label: string, ours: string])[] = [
  ['node_disk_', 'device', 'disk'],
  ['node_infiniband_', 'device', 'rdma_device'],
]

/** Metrics that Sonde does not have, and what computes them. `{}` is the place of the matchers. */
const DERIVED: Readonly<Record<string, string>> = {
  node_memory_SUnreclaim_bytes: '(host_memory_slab_bytes{} - host_memory_slab_reclaimable_bytes{})',
  node_time_seconds: 'time()',
}

/** Metrics whose value has another scale in Sonde, and the conversion of an expression. */
const CONVERTED: Readonly<Record<string, (ours: string) => string>> = {
  node_disk_discarded_sectors_total: (ours) => `${ours} / 512`,
  node_timex_frequency_adjustment_ratio: (ours) => `1 + ${ours}`,
}

/** A metric of one of the two, with the labels that choose series. */
interface Series {
  readonly metric: string
  readonly labels: readonly string[]
}

const seriesOf = (text: string): Series => {
  const [metric = '', labels] = text.replace('}', '').split('{')
  return { metric, labels: labels === undefined ? [] : [labels] }
}

const PAIRS = [...COMPARED, ...NOT_COMPARED].map(([ours, theirs]) => [seriesOf(ours), seriesOf(theirs)] as const)

/** The series of ours that a selector of theirs means. */
function counterpart(metric: string, matchers: readonly string[]): readonly [Series, Series] | undefined {
  return PAIRS.find(([, their]) => their.metric === metric && their.labels.every((label) => matchers.includes(label)))
}

function matchersOf(metric: string, text = ''): string[] {
  return Array.from(text.matchAll(MATCHER), ([, label = '', operator, value]) => {
    const [, , ours = label] = LABELS.find(([prefix, theirs]) => metric.startsWith(prefix) && theirs === label) ?? []
    return `${ours}${operator}${value}`
  })
}

/** A metric of node_exporter that an expression reads, and the metric of Sonde or the reason why there is none. */
export interface ReadMetric {
  readonly theirs: string
  readonly ours?: string
  readonly reason?: string
}

const braced = ({ metric, labels }: Series) => (labels.length === 0 ? metric : `${metric}{${labels.join()}}`)

/** The metrics of node_exporter in an expression. @throws Error for one that no list has. */
export function readMetrics(expr: string): ReadMetric[] {
  return Array.from(expr.replace(CHIP_NAMES, '').matchAll(SELECTOR), ([, metric = '', matchers]) => {
    const derived = DERIVED[metric]
    if (derived !== undefined) return { theirs: metric, ours: derived.replaceAll('{}', '') }
    const pair = counterpart(metric, matchersOf(metric, matchers))
    if (pair !== undefined) return { theirs: braced(pair[1]), ours: braced(pair[0]) }
    const reason = leftOutReason(metric)
    if (reason === undefined) throw new Error(`no list has ${metric}: add it to scripts/docs/node-exporter-…`)
    return { theirs: metric, reason }
  })
}

/** An expression with the names of Sonde, or why there is none; undefined if it reads nothing of node_exporter. */
export function withOurNames(expr: string): { readonly ours: string } | { readonly reason: string } | undefined {
  const metrics = readMetrics(expr)
  if (metrics.length === 0) return undefined
  const reason = metrics.find((metric) => metric.reason !== undefined)?.reason
  if (reason !== undefined) return { reason }
  const ours = expr.replace(CHIP_NAMES, '').replace(SELECTOR, (_, metric: string, text?: string) => {
    const matchers = matchersOf(metric, text)
    const derived = DERIVED[metric]
    if (derived !== undefined) return derived.replaceAll('{}', `{${matchers.join()}}`)
    const [our, their] = counterpart(metric, matchers) ?? [
      { metric, labels: [] },
      { metric, labels: [] },
    ]
    const labels = [...our.labels, ...matchers.filter((matcher) => !their.labels.includes(matcher))]
    return braced({ metric: our.metric, labels })
  })
  const converted = metrics.map(({ theirs }) => CONVERTED[theirs]).find((convert) => convert !== undefined)
  return { ours: converted?.(ours) ?? ours }
}
