import type { Batch, SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type Labels, labelsOf } from '../../schema/series.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { encodeAttributes } from '../../wire/otlp/attributes.ts'
import { HISTOGRAM_ATTRIBUTES, POINT_ATTRIBUTES } from '../../wire/otlp/encode-metrics.ts'
import type { ColumnValues, PointBlock, Temporality } from '../../wire/otlp/points.ts'
import { recordTimes } from './record-times.ts'
import type { Resources } from './resources.ts'
import { SeriesState } from './temporality.ts'
import { type TypeMetrics, typeMetricsOf } from './type-metrics.ts'

/** Series that are remembered at most. Policy: see {@link OtlpSeries}. */
const SERIES_MAX = 65_536
/** A series without a record for so long is forgotten when there are too many. */
const SILENT_MS = 300_000

const NONE = new Uint8Array(0)

/** The series of a type from a source. Found by the symbols of the source. */
interface Member {
  readonly metrics: TypeMetrics
  readonly resource: Uint8Array
  readonly scope: Uint8Array
  readonly index: SeriesIndex
  readonly series: SeriesState[]
  /** Identity of the type and source in any process and file. */
  readonly key: string
  readonly renamed: (labels: Labels) => Labels
}

/**
 * Turns batches into points. It remembers the attributes of each series and, for values that only rise, the last value
 * and its start. Beyond 65 536 series, those that were silent for five minutes are forgotten; if there are none, all
 * are. A forgotten series starts anew.
 */
export class OtlpSeries {
  readonly #temporality: Temporality
  readonly #resources: Resources
  readonly #nowMs: () => number
  /** By identity: a queue on disk gives the same source and type as new objects. */
  readonly #series = new Map<string, SeriesState>()
  #members = new WeakMap<SourceInfo, Map<RecordType, Member>>()
  readonly #types = new WeakMap<RecordType, TypeMetrics>()

  constructor(temporality: Temporality, resources: Resources, nowMs: () => number = () => performance.now()) {
    this.#temporality = temporality
    this.#resources = resources
    this.#nowMs = nowMs
  }

  /** Series that are remembered. */
  get size(): number {
    return this.#series.size
  }

  /** The points of a batch; undefined if its type has no metrics. */
  points(batch: Batch): PointBlock | undefined {
    const { type, source, count } = batch
    const metrics = this.#metricsOf(type)
    if (metrics.columns.length === 0 || count === 0) return undefined
    const views = viewsOf(batch.bytes)
    const { recordBytes } = type.layout
    const times = recordTimes(batch, views)
    const values = metrics.columns.map(
      ({ width, isCumulative }): ColumnValues => ({
        low: new Uint32Array(count * width),
        high: new Uint32Array(count * width),
        present: new Uint8Array(count),
        starts: isCumulative ? new Uint32Array(count * 2) : undefined,
      }),
    )
    const attributes: Uint8Array[] = new Array(count)
    const histogramAttributes: Uint8Array[] = metrics.hasHistogram ? new Array(count) : []
    let member = this.#memberOf(type, source)
    const nowMs = this.#nowMs()
    for (let record = 0; record < count; record++) {
      const offset = record * recordBytes
      const id = member.index.of(views, offset)
      let series = member.series[id]
      if (series === undefined) {
        if (this.#series.size >= SERIES_MAX && this.#forget(nowMs)) member = this.#memberOf(type, source)
        series = this.#open(member, batch, views, offset)
        member.series[member.index.of(views, offset)] = series
      }
      series.seenMs = nowMs
      attributes[record] = series.attributes
      if (metrics.hasHistogram) histogramAttributes[record] = series.histogramAttributes
      this.#take(metrics, values, series, views, offset, record, times)
    }
    const { resource, scope } = member
    return {
      resource,
      scope,
      metrics: metrics.metrics,
      values,
      attributes,
      histogramAttributes,
      times,
      from: 0,
      to: count,
    }
  }

  #take(
    { columns }: TypeMetrics,
    values: readonly ColumnValues[],
    series: SeriesState,
    views: Views,
    offset: number,
    record: number,
    times: Uint32Array,
  ): void {
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c]!
      const { low, high, present } = values[c]!
      if (column.load(views.data, offset, LOW, HIGH) === 0) continue
      for (let i = 0, at = record * column.width; i < column.width; i++, at++) {
        low[at] = LOW[i]!
        high[at] = HIGH[i]!
      }
      present[record] = series.take(c, column, values[c]!, record, times, this.#temporality) ? 1 : 0
    }
  }

  #metricsOf(type: RecordType): TypeMetrics {
    const known = this.#types.get(type)
    if (known !== undefined) return known
    const metrics = typeMetricsOf(type)
    this.#types.set(type, metrics)
    return metrics
  }

  #memberOf(type: RecordType, source: SourceInfo): Member {
    let ofSource = this.#members.get(source)
    if (ofSource === undefined) {
      ofSource = new Map()
      this.#members.set(source, ofSource)
    }
    let member = ofSource.get(type)
    if (member === undefined) {
      const { id, tag, host = '', labels } = source
      const key = JSON.stringify([type.fingerprint, id, tag, host, labels])
      const { resource, scope } = this.#resources.of(type, source)
      const metrics = this.#metricsOf(type)
      const renamed = this.#resources.attributesOf(type, source)
      member = { metrics, resource, scope, index: new SeriesIndex(type), series: [], key, renamed }
      ofSource.set(type, member)
    }
    return member
  }

  #open({ key, metrics, renamed }: Member, { type, source }: Batch, views: Views, offset: number): SeriesState {
    const labels = renamed(labelsOf(type, source, views, offset))
    const attributes = encodeAttributes(POINT_ATTRIBUTES, labels)
    const whole = key + Buffer.from(attributes).toString('latin1')
    const known = this.#series.get(whole)
    if (known !== undefined) return known
    const ofHistogram = metrics.hasHistogram ? encodeAttributes(HISTOGRAM_ATTRIBUTES, labels) : NONE
    const series = new SeriesState(metrics, attributes, ofHistogram)
    this.#series.set(whole, series)
    return series
  }

  /** Makes room. Returns that members start anew, because they hold series as well. */
  #forget(nowMs: number): true {
    for (const [key, { seenMs }] of this.#series) if (seenMs < nowMs - SILENT_MS) this.#series.delete(key)
    if (this.#series.size >= SERIES_MAX) this.#series.clear()
    this.#members = new WeakMap()
    return true
  }
}

/** Values of one column of a record; a type has at most 65 535 elements in a field, and a histogram its sum. */
const LOW = new Uint32Array(65_537)
const HIGH = new Uint32Array(65_537)
