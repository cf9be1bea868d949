import type { Labels, LatestSeries } from '@sonde/sdk/api'
import { compareNames, seriesWords } from '../../format/names.ts'

/** A reason, and the values absent because of it. */
export interface Absence {
  readonly reason: string
  /** Absent metrics, sorted. */
  readonly metrics: readonly string[]
  /** Series without these metrics, by their label values. */
  readonly series: readonly string[]
}

/** Groups absent values by metric and pattern of the reason, so that 200 interfaces share a row. */
export function groupAbsences(values: readonly LatestSeries[]): Absence[] {
  const groups = new Map<string, { reason: string; metrics: Set<string>; series: Set<string> }>()
  for (const { metric, labels, absent } of values) {
    if (absent === '') continue
    const key = withoutLabels(absent, labels)
    const group = groups.get(key) ?? { reason: absent, metrics: new Set(), series: new Set() }
    if (group.series.size > 0) group.reason = key
    group.metrics.add(metric)
    // Series without labels belong to the node.
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

/**
 * The reason with label values replaced by label names: `/sys/class/net/<device>/speed`, `<device>: no such sensor`.
 */
function withoutLabels(reason: string, labels: Labels): string {
  return Object.entries(labels).reduce((text, [name, value]) => {
    if (value === '') return text
    const told = text.startsWith(`${value}: `) ? `<${name}>${text.slice(value.length)}` : text
    return told.replaceAll(`/${value}/`, `/<${name}>/`)
  }, reason)
}
