import type { Batch, SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type Labels, labelsOf, parseSeriesKey } from '../../schema/series.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { encodeAttributes } from '../../wire/otlp/attributes.ts'
import { HISTOGRAM_ATTRIBUTES, POINT_ATTRIBUTES } from '../../wire/otlp/encode-metrics.ts'
import type { ColumnValues, PointBlock, Temporality } from '../../wire/otlp/points.ts'
import { emptyBlock } from './empty-block.ts'
import { EndedSeries, ownerText } from './ended-series.ts'
import { recordTimes } from './record-times.ts'
import type { Resources } from './resources.ts'
import { type SeriesOrigin, SeriesState } from './temporality.ts'
import { type TypeMetrics, typeMetricsOf } from './type-metrics.ts'

/** Series that are remembered at most. Policy: see {@link OtlpSeries}. */
const SERIES_MAX = 65_536
/** A series without a record for so long is forgotten when there are too many. */
const SILENT_MS = 300_000

const NONE = new Uint8Array(0)

/** The series of a type from a source. Found by the symbols of the source. */
interface Member {
  readonly origin: SeriesOrigin
  readonly index: SeriesIndex
  readonly series: SeriesState[]
  /** The identity of a series by its attributes. */
  readonly identityOf: (attributes: Uint8Array) => string
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
  readonly #seriesMax: number
  /** By identity: a queue on disk gives the same source and type as new objects. */
  readonly #series = new Map<string, SeriesState>()
  #members = new WeakMap<SourceInfo, Map<RecordType, Member>>()
  readonly #types = new WeakMap<RecordType, TypeMetrics>()
  /** The series that have ended. */
  readonly ended: EndedSeries
  /** Series that began since members began. */
  #begun = 0

  /** `nowMs` is a clock that never goes back. `seriesMax`: series that are remembered. */
  constructor(
    temporality: Temporality,
    resources: Resources,
    nowMs: () => number = () => performance.now(),
    seriesMax = SERIES_MAX,
  ) {
    this.#seriesMax = seriesMax
    this.#temporality = temporality
    this.#resources = resources
    this.#nowMs = nowMs
    this.ended = new EndedSeries(this.#series, nowMs)
  }

  /** Time of the newest record so far. Unit: milliseconds since the Unix epoch. */
  newestMs = 0

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
    let member = this.#memberOf(type, source)
    const block = emptyBlock(member.origin, count, times)
    const { values, attributes, histogramAttributes } = block
    const nowMs = this.#nowMs()
    for (let record = 0; record < count; record++) {
      const offset = record * recordBytes
      const id = member.index.of(views, offset)
      let series = member.series[id]
      if (series === undefined || series.hasEnded) {
        if (this.#isFull() && this.#forget(nowMs)) member = this.#memberOf(type, source)
        series = this.#open(member, batch, views, offset)
        member.series[member.index.of(views, offset)] = series
      }
      series.seenMs = nowMs
      series.timeLow = times[record * 2]!
      series.timeHigh = times[record * 2 + 1]!
      this.ended.continues(series)
      attributes[record] = series.attributes
      if (metrics.hasHistogram) histogramAttributes[record] = series.histogramAttributes
      this.#take(metrics, values, series, views, offset, record, times)
    }
    const last = (count - 1) * 2
    this.newestMs = Math.max(this.newestMs, (times[last + 1]! * 2 ** 32 + times[last]!) / 1e6)
    return block
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
      if (column.load(views.data, offset, LOW, HIGH) === 0) {
        present[record] = series.end(c, values[c]!, record)
        continue
      }
      for (let i = 0, at = record * column.width; i < column.width; i++, at++) {
        low[at] = LOW[i]!
        high[at] = HIGH[i]!
      }
      present[record] = series.take(c, column, values[c]!, record, times, this.#temporality)
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
      const identity = JSON.stringify([type.fingerprint, id, tag, host, labels])
      const identityOf = (attributes: Uint8Array) => identity + Buffer.from(attributes).toString('latin1')
      const { resource, scope } = this.#resources.of(type, source)
      const metrics = this.#metricsOf(type)
      const renamed = this.#resources.attributesOf(type, source)
      const keyOf = (text: string) => identityOf(encodeAttributes(POINT_ATTRIBUTES, renamed(parseSeriesKey(text))))
      const origin = { metrics, resource, scope, owner: ownerText(source), type: type.name, keyOf }
      member = { origin, index: new SeriesIndex(type), series: [], identityOf, renamed }
      ofSource.set(type, member)
    }
    return member
  }

  #open({ origin, identityOf, renamed }: Member, { type, source }: Batch, views: Views, offset: number): SeriesState {
    const labels = renamed(labelsOf(type, source, views, offset))
    const attributes = encodeAttributes(POINT_ATTRIBUTES, labels)
    const key = identityOf(attributes)
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const ofHistogram = origin.metrics.hasHistogram ? encodeAttributes(HISTOGRAM_ATTRIBUTES, labels) : NONE
    const series = new SeriesState(origin, key, attributes, ofHistogram)
    this.#series.set(key, series)
    this.#begun++
    this.ended.add(series)
    return series
  }

  #isFull(): boolean {
    return this.#series.size >= this.#seriesMax || this.#begun >= 2 * this.#seriesMax
  }

  /** Makes room. Returns that members start anew, because they hold ended series as well. */
  #forget(nowMs: number): true {
    for (const [key, { seenMs }] of this.#series) if (seenMs < nowMs - SILENT_MS) this.#series.delete(key)
    if (this.#series.size >= this.#seriesMax) this.#series.clear()
    this.ended.forget()
    this.#members = new WeakMap()
    this.#begun = this.#series.size
    return true
  }
}

/** Values of one column of a record; a type has at most 65 535 elements in a field, and a histogram its sum. */
const LOW = new Uint32Array(65_537)
const HIGH = new Uint32Array(65_537)
