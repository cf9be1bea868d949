import { constantLabelText } from '../../schema/constant-labels.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { parseSeriesKey } from '../../schema/series.ts'
import { type Lanes, lanesOf } from '../../wire/prometheus/lanes.ts'
import type { MetricInfo } from '../../wire/remote-write/series.ts'
import {
  type ClaimedColumn,
  type ClaimingTable,
  type Family,
  type MetricFields,
  metricsOf,
} from '../prometheus/families.ts'

/** A metric of a type: its series, and what fills them. */
export interface SentMetric extends Lanes {
  readonly metric: MetricInfo
  /** Index of its first lane in a row. */
  readonly firstLane: number
  /** Edges of a histogram that has a sum; else undefined. */
  readonly edges: readonly number[] | undefined
  /** Constant labels of each lane. */
  readonly labels: readonly (readonly (readonly [name: string, value: string])[])[]
  /** Whether the type has the name of the metric. */
  isNamed: boolean
}

/** A metric whose name a type has. */
export interface SentColumn extends ClaimedColumn<SentColumn> {
  readonly table: SentMetrics
  readonly sent: SentMetric
  /** Constant labels as text. */
  readonly labels: string
}

/** The metrics of a type, with the names and labels of `/metrics`. */
export class SentMetrics implements ClaimingTable<SentColumn> {
  readonly type: RecordType
  readonly metrics: readonly SentMetric[]
  readonly laneCount: number
  isOwn = false
  /** Known rows of the type. */
  rowCount = 0
  /** The metrics whose names the type has. */
  columns: readonly SentColumn[] = []
  /** Rises with each change of `columns`. */
  version = 0
  /** By their first field. */
  readonly #metrics: ReadonlyMap<string, SentMetric>
  /** Metrics that the type declares. */
  readonly #declared: number

  constructor(type: RecordType) {
    const declared = metricsOf(type)
    let laneCount = 0
    const metrics = declared.flatMap((fields): [string, SentMetric][] => {
      const [{ name, field }] = fields.slots
      if (field.kind === 'char' || field.kind === 'symbol') return []
      const metric = sentMetricOf(type, fields, laneCount)
      laneCount += metric.lanes.length
      return [[name, metric]]
    })
    this.type = type
    this.laneCount = laneCount
    this.metrics = metrics.map(([, metric]) => metric)
    this.#metrics = new Map(metrics)
    this.#declared = declared.length
  }

  /** Whether the type has the names of all its metrics. */
  get isWhole(): boolean {
    return this.columns.length === this.#declared
  }

  /** The column of a metric that the type declares. */
  columnOf(family: Family<SentColumn>, slots: MetricFields['slots']): SentColumn {
    const [{ name, field }] = slots
    return { table: this, family, slots, labels: constantLabelText(field), sent: this.#metrics.get(name)! }
  }

  add(column: SentColumn): void {
    this.columns = [...this.columns, column]
    column.sent.isNamed = true
    this.version++
  }

  remove(column: SentColumn): void {
    this.columns = this.columns.filter((other) => other !== column)
    column.sent.isNamed = false
    this.version++
  }
}

function sentMetricOf(type: RecordType, { metric, slots }: MetricFields, firstLane: number): SentMetric {
  const [{ name: fieldName, field }] = slots
  const kind: MetricInfo['kind'] =
    field.metricType ?? (field.role === 'bucket' ? 'histogram' : field.role === 'counter' ? 'counter' : 'gauge')
  const lanes = lanesOf(type, metric, slots)
  const help = field.help || `${type.description || type.name}: ${fieldName}`
  const hasSum = field.role === 'bucket' && lanes.lanes.length === field.count + 2
  const edges = hasSum ? field.edges : undefined
  const labels = lanes.lanes.map(({ label }) => Object.entries(parseSeriesKey(label)))
  const info = { name: metric, kind, unit: field.unit ?? '', help }
  return { ...lanes, metric: info, firstLane, edges, labels, isNamed: false }
}
