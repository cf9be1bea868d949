import type { RecordType } from '../../schema/record-type.ts'
import { parseSeriesKey } from '../../schema/series.ts'
import { type Lanes, lanesOf } from '../../wire/prometheus/lanes.ts'
import type { MetricInfo } from '../../wire/remote-write/series.ts'
import { metricsOf } from '../prometheus/families.ts'

/** A metric of a type: its series, and what fills them. */
export interface SentMetric extends Lanes {
  readonly metric: MetricInfo
  /** Index of its first lane in a row. */
  readonly firstLane: number
  /** Edges of a histogram that has a sum; else undefined. */
  readonly edges: readonly number[] | undefined
  /** Constant labels of each lane. */
  readonly labels: readonly (readonly (readonly [name: string, value: string])[])[]
}

/** The metrics of a type. */
export interface SentMetrics {
  readonly type: RecordType
  readonly columns: readonly SentMetric[]
  readonly laneCount: number
}

/** The metrics of a type, with the names and labels of `/metrics`. */
export function sentMetricsOf(type: RecordType): SentMetrics {
  let laneCount = 0
  const columns = metricsOf(type).flatMap(({ metric, slots }): SentMetric[] => {
    const [{ name: fieldName, field }] = slots
    if (field.kind === 'char' || field.kind === 'symbol') return []
    const kind =
      field.metricType ?? (field.role === 'bucket' ? 'histogram' : field.role === 'counter' ? 'counter' : 'gauge')
    const lanes = lanesOf(type, metric, slots)
    const firstLane = laneCount
    laneCount += lanes.lanes.length
    const help = field.help || `${type.description || type.name}: ${fieldName}`
    const hasSum = field.role === 'bucket' && lanes.lanes.length === field.count + 2
    const edges = hasSum ? field.edges : undefined
    const labels = lanes.lanes.map(({ label }) => Object.entries(parseSeriesKey(label)))
    return [{ ...lanes, metric: { name: metric, kind, unit: field.unit ?? '', help }, firstLane, edges, labels }]
  })
  return { type, columns, laneCount }
}
