import type { Labels, LatestSeries } from '@sonde/sdk/api'
import { compareNames, seriesWords } from '../../format/names.ts'

/** A reason, and everything that is absent for it. */
export interface Absence {
  readonly reason: string
  /** Metrics that are absent, in order. */
  readonly metrics: readonly string[]
  /** Series that lack them, as their label values say. */
  readonly series: readonly string[]
}

/** Groups absent values: one row for every metric and the pattern of its reason, so that 200 interfaces are one row. */
export function groupAbsences(values: readonly LatestSeries[]): Absence[] {
  const groups = new Map<string, { reason: string; metrics: Set<string>; series: Set<string> }>()
  for (const { metric, labels, absent } of values) {
    if (absent === '') continue
    const key = withoutLabels(absent, labels)
    const group = groups.get(key) ?? { reason: absent, metrics: new Set(), series: new Set() }
    if (group.series.size > 0) group.reason = key
    group.metrics.add(metric)
    // What has no label is of the node.
    group.series.add(seriesWords(labels) || 'node')
    groups.set(key, group)
  }
  return [...groups.values()]
    .map(({ reason, metrics, series }) => ({
      reason,
      metrics: [...metrics].sort(compareNames),
      series: [...series].sort(compareNames),
    }))
    .sort((a, b) => compareNames(a.metrics[0]!, b.metrics[0]!))
}

/** The reason with label values put as their names: `/sys/class/net/<device>/speed`, `<device>: no such sensor`. */
function withoutLabels(reason: string, labels: Labels): string {
  return Object.entries(labels).reduce((text, [name, value]) => {
    if (value === '') return text
    const told = text.startsWith(`${value}: `) ? `<${name}>${text.slice(value.length)}` : text
    return told.replaceAll(`/${value}/`, `/<${name}>/`)
  }, reason)
}
