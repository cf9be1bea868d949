import { ProtobufWriter } from '../protobuf/writer.ts'
import {
  type ColumnValues,
  type OtlpColumn,
  type OtlpMetric,
  type PointBlock,
  PRESENT,
  type Temporality,
} from './points.ts'

/** Number of the field of attributes in a `NumberDataPoint`. */
export const POINT_ATTRIBUTES = 7
/** Number of the field of attributes in a `HistogramDataPoint`. */
export const HISTOGRAM_ATTRIBUTES = 9

/** Numbers of the fields of a `Metric` by kind. */
const KIND_FIELD = { gauge: 5, sum: 7, histogram: 9 } as const
const TEMPORALITY = { delta: 1, cumulative: 2 } as const
/** Numbers of the field of flags in a `NumberDataPoint` and a `HistogramDataPoint`. */
const POINT_FLAGS = 8
const HISTOGRAM_FLAGS = 10
/** `DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK`: the series has no value, as a marker of staleness says for Prometheus. */
const NO_RECORDED_VALUE = 1
/** A signed 64-bit number has no room for larger values. Unit: high word. */
const INT64_HIGH_MAX = 0x7fffffff
/** Bytes of a point beside attributes and bins, and of the lengths around it. */
const POINT_BYTES = 48
/** Bytes of a block beside its points: names, units, descriptions and lengths. */
const HEAD_BYTES = 64

const writer = new ProtobufWriter()

/**
 * Encodes blocks as an `ExportMetricsServiceRequest`, grouped by resource and scope. Metrics without a point are left
 * out. Undefined if there is no point at all. Pure.
 */
export function encodeMetrics(
  blocks: readonly PointBlock[],
  temporality: Temporality,
): Uint8Array<ArrayBuffer> | undefined {
  writer.clear()
  const resources = Map.groupBy(blocks, ({ resource }) => resource)
  for (const [resource, ofResource] of [...resources].reverse()) {
    const end = writer.size
    const scopes = Map.groupBy(ofResource, ({ scope }) => scope)
    for (const [scope, ofScope] of [...scopes].reverse()) writeScope(scope, ofScope, temporality)
    if (writer.size === end) continue
    writer.bytes(1, resource)
    writer.close(1, end)
  }
  return writer.size === 0 ? undefined : writer.finish()
}

/** How many points the records of a block have. */
export function pointsOf({ metrics, values, from, to }: PointBlock): number {
  let points = 0
  let column = 0
  for (const { kind, columns } of metrics) {
    for (const { width } of columns) {
      const { present } = values[column++]!
      const each = kind === 'histogram' ? 1 : width
      for (let record = from; record < to; record++) if (present[record] !== PRESENT.no) points += each
    }
  }
  return points
}

/** Upper bound of the size of the points of one record of a block. Unit: bytes. */
export function recordBytesMax({ metrics, attributes, histogramAttributes }: PointBlock, record: number): number {
  let bytes = 0
  for (const { kind, columns } of metrics) {
    const own = kind === 'histogram' ? histogramAttributes[record] : attributes[record]
    for (const { width, elements, edges } of columns) {
      const each = POINT_BYTES + (own?.length ?? 0) + (elements[0]?.length ?? 0) + 16
      bytes += kind === 'histogram' ? each + (width + edges.length) * 8 : each * width
    }
  }
  return bytes
}

/** Upper bound of the size of a block without points. Unit: bytes. */
export function headBytesMax({ resource, scope, metrics }: PointBlock): number {
  let bytes = resource.length + scope.length + HEAD_BYTES
  // A character is at most three bytes.
  for (const { name, description, unit } of metrics)
    bytes += HEAD_BYTES + 3 * (name.length + description.length + unit.length)
  return bytes
}

function writeScope(scope: Uint8Array, blocks: readonly PointBlock[], temporality: Temporality): void {
  const end = writer.size
  const metrics = blocks[0]?.metrics ?? []
  let column = metrics.reduce((sum, { columns }) => sum + columns.length, 0)
  for (let i = metrics.length - 1; i >= 0; i--) {
    const metric = metrics[i]!
    column -= metric.columns.length
    writeMetric(metric, column, blocks, temporality)
  }
  if (writer.size === end) return
  writer.bytes(1, scope)
  writer.close(2, end)
}

function writeMetric(
  metric: OtlpMetric,
  firstColumn: number,
  blocks: readonly PointBlock[],
  temporality: Temporality,
): void {
  const { name, description, unit, kind, columns } = metric
  const end = writer.size
  if (kind === 'sum') writer.uint(3, 1)
  if (kind !== 'gauge') writer.uint(2, TEMPORALITY[temporality])
  const beforePoints = writer.size
  for (let c = columns.length - 1; c >= 0; c--) {
    for (let b = blocks.length - 1; b >= 0; b--) {
      const block = blocks[b]!
      const values = block.values[firstColumn + c]!
      if (kind === 'histogram') writeHistograms(block, columns[c]!, values)
      else writeNumbers(block, columns[c]!, values)
    }
  }
  if (writer.size === beforePoints) {
    writer.shrink(end)
    return
  }
  writer.close(KIND_FIELD[kind], end)
  if (unit !== '') writer.text(3, unit)
  if (description !== '') writer.text(2, description)
  writer.text(1, name)
  writer.close(2, end)
}

function writeNumbers(block: PointBlock, { numbers, width, elements }: OtlpColumn, values: ColumnValues): void {
  const { times, attributes, from, to } = block
  const { low, high, present, starts } = values
  for (let record = to - 1; record >= from; record--) {
    if (present[record] === PRESENT.no) continue
    const isEnd = present[record] === PRESENT.ended
    for (let element = width - 1; element >= 0; element--) {
      const end = writer.size
      const at = record * width + element
      const constant = elements[element]!
      if (isEnd) writer.uint(POINT_FLAGS, NO_RECORDED_VALUE)
      if (constant.length > 0) writer.raw(constant)
      writer.raw(attributes[record]!)
      if (!isEnd) writeNumber(numbers, low[at]!, high[at]!)
      writer.fixed64(3, times[record * 2]!, times[record * 2 + 1]!)
      if (starts !== undefined) writer.fixed64(2, starts[record * 2]!, starts[record * 2 + 1]!)
      writer.close(1, end)
    }
  }
}

/** A value above 2^63-1 becomes a `double`, because the integers of OTLP have a sign. */
function writeNumber(numbers: ColumnNumbers, low: number, high: number): void {
  if (numbers === 'float') writer.fixed64(4, low, high)
  else if (numbers === 'unsigned' && high > INT64_HIGH_MAX) writer.double(4, high * 2 ** 32 + low)
  else writer.fixed64(6, low, high)
}

type ColumnNumbers = OtlpColumn['numbers']

function writeHistograms(block: PointBlock, column: OtlpColumn, values: ColumnValues): void {
  const { times, histogramAttributes, from, to } = block
  const { elements } = column
  const { present, starts } = values
  for (let record = to - 1; record >= from; record--) {
    if (present[record] === PRESENT.no) continue
    const isEnd = present[record] === PRESENT.ended
    const end = writer.size
    if (isEnd) writer.uint(HISTOGRAM_FLAGS, NO_RECORDED_VALUE)
    writer.raw(elements[0]!)
    writer.raw(histogramAttributes[record]!)
    if (!isEnd) writeBins(column, values, record)
    writer.fixed64(3, times[record * 2]!, times[record * 2 + 1]!)
    if (starts !== undefined) writer.fixed64(2, starts[record * 2]!, starts[record * 2 + 1]!)
    writer.close(1, end)
  }
}

/** Edges, bins, sum and count of a histogram. */
function writeBins(
  { width, edges, sum }: OtlpColumn,
  { low, high }: Pick<ColumnValues, 'low' | 'high'>,
  record: number,
): void {
  const bins = edges.length + 1
  const beforeEdges = writer.size
  for (let i = edges.length - 1; i >= 0; i--) writer.float64(edges[i]!)
  writer.close(7, beforeEdges)
  const beforeBins = writer.size
  let [countLow, countHigh] = [0, 0]
  for (let i = bins - 1; i >= 0; i--) {
    const at = record * width + i
    writer.words(low[at]!, high[at]!)
    countLow += low[at]!
    countHigh += high[at]!
  }
  writer.close(6, beforeBins)
  if (sum !== undefined) {
    const at = record * width + bins
    if (sum === 'float') writer.fixed64(5, low[at]!, high[at]!)
    else writer.double(5, high[at]! * 2 ** 32 + low[at]!)
  }
  const carry = Math.floor(countLow / 2 ** 32)
  writer.fixed64(4, countLow, countHigh + carry)
}
