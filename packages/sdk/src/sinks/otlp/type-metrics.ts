import { sumSlotOf } from '../../schema/histogram.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { encodeAttributes } from '../../wire/otlp/attributes.ts'
import { HISTOGRAM_ATTRIBUTES, POINT_ATTRIBUTES } from '../../wire/otlp/encode-metrics.ts'
import type { OtlpColumn, OtlpMetric } from '../../wire/otlp/points.ts'
import { type LoadLanes, numberClass, valuesLoader } from '../../wire/prometheus/lanes.ts'
import { type MetricFields, metricsOf } from '../prometheus/families.ts'
import { ucumOf } from './units.ts'

/** A column with the function that reads its values from a record. */
export interface LoadedColumn extends OtlpColumn {
  /** Loads the words of all values; returns 0 if the record has none. */
  readonly load: LoadLanes
  /** Whether its values only rise. */
  readonly isCumulative: boolean
  /** Index of its first value among the values of a record that only rise. */
  readonly cell: number
}

/** The metrics of a type as OTLP has them. */
export interface TypeMetrics {
  readonly metrics: readonly OtlpMetric[]
  /** The columns of all metrics, in order. */
  readonly columns: readonly LoadedColumn[]
  /** Values of a record that only rise. */
  readonly cellCount: number
  readonly hasHistogram: boolean
}

/** The metrics of a type. Fields that share a metric are columns of it. */
export function typeMetricsOf(type: RecordType): TypeMetrics {
  const byName = Map.groupBy(
    metricsOf(type).filter(({ slots: [{ field }] }) => field.kind !== 'char' && field.kind !== 'symbol'),
    ({ metric }) => metric,
  )
  const all: LoadedColumn[] = []
  let cellCount = 0
  const metrics = Array.from(byName, ([name, fields]): OtlpMetric => {
    const { field, name: slotName } = fields[0]!.slots[0]
    const kind = kindOf(fields[0]!)
    const columns = fields.map((each) => {
      const column = columnOf(type, each, cellCount)
      if (column.isCumulative) cellCount += column.width
      return column
    })
    all.push(...columns)
    const description = field.help || `${type.description || type.name}: ${slotName}`
    return { name, description, unit: ucumOf(field.unit), kind, columns }
  })
  return { metrics, columns: all, cellCount, hasHistogram: metrics.some(({ kind }) => kind === 'histogram') }
}

function kindOf({ slots: [{ field }] }: MetricFields): OtlpMetric['kind'] {
  if (field.role === 'bucket') return 'histogram'
  // Only its origin knows whether a metric of unknown type counts.
  return field.role === 'counter' && field.metricType !== 'unknown' ? 'sum' : 'gauge'
}

function columnOf(type: RecordType, fields: MetricFields, cell: number): LoadedColumn {
  const [first] = fields.slots
  const { count, labels = {}, edges = [] } = first.field
  const kind = kindOf(fields)
  const loads = fields.slots.map((slot) => valuesLoader(type.layout, slot))
  const common = { numbers: numberClass(first), isCumulative: kind !== 'gauge', cell, edges }
  if (kind === 'histogram') {
    const elements = [encodeAttributes(HISTOGRAM_ATTRIBUTES, labels)]
    const sum = sumSlotOf(type, first)
    const [loadBins] = loads as [LoadLanes]
    if (sum === undefined) return { ...common, width: count, elements, sum: undefined, load: loadBins }
    const load = withSum(loadBins, valuesLoader(type.layout, sum), count)
    return { ...common, width: count + 1, elements, sum: numberClass(sum), load }
  }
  const elements = Array.from({ length: count }, (_, index) =>
    encodeAttributes(POINT_ATTRIBUTES, { ...labels, ...(count > 1 ? { index: String(index) } : {}) }),
  )
  return { ...common, width: count, elements, sum: undefined, load: firstPresent(loads) }
}

function firstPresent(loads: readonly LoadLanes[]): LoadLanes {
  const [load] = loads
  if (load !== undefined && loads.length === 1) return load
  return (data, offset, low, high) => {
    for (const each of loads) {
      const count = each(data, offset, low, high)
      if (count > 0) return count
    }
    return 0
  }
}

const sumLow = new Uint32Array(1)
const sumHigh = new Uint32Array(1)

/** A histogram without its sum counts as absent: a sum of 0 would be wrong. */
function withSum(loadBins: LoadLanes, loadSum: LoadLanes, bins: number): LoadLanes {
  return (data, offset, low, high) => {
    if (loadBins(data, offset, low, high) === 0 || loadSum(data, offset, sumLow, sumHigh) === 0) return 0
    low[bins] = sumLow[0]!
    high[bins] = sumHigh[0]!
    return bins + 1
  }
}
