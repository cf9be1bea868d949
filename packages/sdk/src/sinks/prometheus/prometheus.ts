import type { FieldSet } from '../../fieldset/fieldset.ts'
import { turn } from '../../internal/turn.ts'
import { type Batch, lifeOf, type SourceInfo } from '../../schema/batch.ts'
import { absenceType } from '../../schema/builtin.ts'
import { HiddenRecords } from '../../sink/hidden-records.ts'
import { countDrop, type Sink, sinkStats } from '../../sink/sink.ts'
import { CONTENT_TYPES } from '../../wire/prometheus/header.ts'
import type { AddedLabels } from '../../wire/prometheus/label-text.ts'
import { acceptsGzip, negotiateFormat } from '../../wire/prometheus/negotiate.ts'
import { sourceFilter } from '../source-tags.ts'
import { type AbsentSeries, readAbsences } from './absences.ts'
import { renderMoment, takeMoment } from './collect.ts'
import { type PrometheusConfig, type PrometheusOptions, prometheusConfig } from './config.ts'
import { conflictWords, prometheusDropCause } from './drop-causes.ts'
import { Expiry } from './expiry.ts'
import { bytesOf, type Exposition } from './exposition.ts'
import type { MetricConflict } from './families.ts'
import { UnfitIndexes } from './indexes.ts'
import type { MetricTable, MoreLabels } from './metric-table.ts'
import { Settling } from './settling.ts'
import { Tables } from './tables.ts'
import { type LabelFileHealth, ViewLabels } from './view-labels.ts'

/** Headers of a scrape that matter. */
export interface ScrapeHeaders {
  /** `Accept`: which format. Default: text 0.0.4. */
  readonly accept?: string | undefined
  /** `Accept-Encoding`: whether gzip is accepted. Default: no. */
  readonly acceptEncoding?: string | undefined
}

/** Answer to a scrape. */
export interface Scrape {
  readonly contentType: string
  readonly contentEncoding?: 'gzip'
  /** The body in pieces, which other scrapes share: they do not change before `release`. */
  readonly chunks: readonly Buffer[]
  /** Size of the body. Unit: bytes. */
  readonly bytes: number
  /**
   * Releases the body, so that the view may overwrite its bytes. Without a release, the view copies changed pages. May
   * be called twice.
   */
  release(): void
}

/** Bodies below this are sent as they are. Unit: bytes. */
const GZIP_FROM_BYTES = 1024

/**
 * Makes the Prometheus view: it keeps the latest record of every series and shows it as text 0.0.4 or OpenMetrics 1.0.
 *
 * @throws SondeError `PRM_OPTION` if an option is out of its range, `PRM_LABELS` with file and line where a label is
 * none.
 * @example
 * const prometheus = createPrometheus()
 * const source = createSource({ id: 'app', emit: (batch) => prometheus.accept(batch) })
 * createServer(metricsHandler(prometheus)).listen({ port: 9394, exclusive: true })
 */
export function createPrometheus(options: PrometheusOptions = {}): Prometheus {
  return new Prometheus(prometheusConfig(options))
}

/** See {@link createPrometheus}. Not for `new`: options are checked there. */
export class Prometheus implements Sink {
  readonly name: string
  readonly stats = sinkStats()
  readonly #config: PrometheusConfig
  readonly #tables: Tables
  readonly #labels: ViewLabels
  #more: MoreLabels
  /** Whether rows have labels that the label file no longer says. */
  #isRelabelDue = false
  readonly #unfitIndexes = new UnfitIndexes()
  readonly #isFor: (source: SourceInfo) => boolean
  readonly #hidden = new HiddenRecords()
  /** Rises with each change of the exposition. */
  #version = 0
  #shown: { readonly version: number; readonly exposition: Exposition } | undefined
  #running: Promise<void> | undefined
  readonly #settling: Settling
  readonly #expiry: Expiry
  #closed = false

  constructor(config: PrometheusConfig) {
    this.#config = config
    this.name = config.name
    this.#labels = new ViewLabels(config)
    this.#more = { indexes: new Set(config.indexes), added: this.#labels.added }
    this.#tables = new Tables(config, () => this.stats.errors++)
    this.#settling = new Settling({
      take: (batch, acceptedMs) => this.#takeWaiting(batch, acceptedMs),
      remove: (source) => this.#remove(source),
    })
    this.#expiry = new Expiry(this.#tables, config.seriesExpiryS * 1000)
    this.#isFor = sourceFilter(config.sourceTags)
  }

  /** Number of lines of all live series, absent values included. */
  get seriesCount(): number {
    let lines = 0
    for (const table of this.#tables.all()) lines += table.count * table.linesPerRow
    return lines
  }

  get hidden(): ReadonlyMap<string, number> {
    return this.stats.dropped
  }

  /** How the label file fares; undefined if there is none. */
  get labelFile(): LabelFileHealth | undefined {
    return this.#labels.hasFile ? this.#labels : undefined
  }

  /**
   * Checks the label file for changes, which apply to all series from the next collect on. Every collect does so too.
   */
  async followLabelFile(): Promise<void> {
    await this.#labels.look()
    this.#followLabels()
  }

  /**
   * Labels that the program itself adds to series, such as those of pods, from the next collect on; undefined: none.
   * For Sonde itself.
   */
  addLabels(added: AddedLabels | undefined): void {
    this.#labels.set(added)
    this.#followLabels()
  }

  #followLabels(): void {
    const { added } = this.#labels
    if (added === this.#more.added) return
    this.#more = { ...this.#more, added }
    this.#isRelabelDue = true
    this.#version++
  }

  /** Batches of sources whose tag is not for this view do not reach it, and are not counted. */
  accept(batch: Batch): void {
    if (!this.#isFor(batch.source)) return
    const startMs = performance.now()
    this.stats.in += batch.count
    if (this.#closed) this.#drop('closed', batch.count)
    else if (batch.bytes.length !== batch.count * batch.type.layout.recordBytes) {
      this.stats.errors++
      this.#drop('wrong_size', batch.count, batch)
    } else {
      const nowMs = this.#config.nowMs()
      const rest = this.#settling.isBehind(batch.source) ? batch : this.#take(batch, nowMs)
      const isKept = rest === undefined || this.#settling.add(rest, nowMs)
      if (!isKept) this.#drop('waiting_limit', rest.count, rest)
    }
    this.stats.seconds += (performance.now() - startMs) / 1000
  }

  /** The sources of which something is shown. */
  sources(): ReadonlySet<SourceInfo> {
    return new Set([...this.#tables.all()].flatMap((table) => [...table.sources()]))
  }

  /** Removes every series of a source whose client or device is gone. A later `collect` shows none of them. */
  removeSource(source: SourceInfo): void {
    this.stats.out += this.#settling.leave(source)
    this.#version++
  }

  /** Metrics that were refused, because another type has their name with another kind, unit or form. */
  conflicts(): readonly MetricConflict[] {
    return this.#tables.conflicts()
  }

  causeOf(reason: string): string {
    const conflicts = reason === 'metric_conflict' ? this.conflicts() : []
    return conflicts.length > 0 ? conflictWords(conflicts) : prometheusDropCause(reason)
  }

  /**
   * The text of all batches accepted so far; the caller releases it. Concurrent callers share one exposition, and all
   * callers share it until the next change.
   */
  async collect(): Promise<Exposition> {
    await this.#settling.settled()
    while (!this.#expire()) await turn.next()
    this.#unfitIndexes.tellMissing(
      [...this.#tables.all()].map(({ type }) => type),
      this.#more.indexes,
    )
    if (this.#labels.hasFile) await this.followLabelFile()
    const wanted = this.#version
    while (this.#shown === undefined || this.#shown.version < wanted) {
      this.#running ??= this.#render()
      await this.#running
    }
    return this.#shown.exposition.hold()
  }

  /** Answers a scrape, with everything or with what a filter lets pass. */
  async render(headers: ScrapeHeaders = {}, filter?: FieldSet): Promise<Scrape> {
    const format = negotiateFormat(headers.accept)
    const whole = await this.collect()
    const exposition = filter === undefined ? whole : whole.only(filter)
    const release = once(() => exposition.release())
    const contentType = CONTENT_TYPES[format]
    try {
      const plain = await exposition.chunks(format)
      const bytes = bytesOf(plain)
      if (!acceptsGzip(headers.acceptEncoding) || bytes < GZIP_FROM_BYTES) {
        return { contentType, chunks: plain, bytes, release }
      }
      const chunks = await exposition.gzipped(format)
      release()
      return { contentType, contentEncoding: 'gzip', chunks, bytes: bytesOf(chunks), release }
    } catch (error) {
      release()
      throw error
    }
  }

  takeHidden(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>> {
    return this.#hidden.take(client, upTo)
  }

  /** Resolves when everything accepted so far is visible, which most often is at once. */
  async flush(): Promise<void> {
    await this.#settling.settled()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#drop('closed', this.#settling.clear())
    this.#tables.clear()
    this.#forgetShown()
    this.#version++
  }

  async #render(): Promise<void> {
    this.#forgetShown()
    try {
      if (this.#isRelabelDue) await this.#relabel()
      // Earlier batches may have used up the share of this turn.
      if (turn.isOver()) await turn.next()
      const version = this.#version
      const { exposition, hiddenCount } = await renderMoment(takeMoment(this.#tables))
      // The last records of these rows were counted as shown before another type was found to have the series.
      this.stats.out -= hiddenCount
      this.#drop('duplicate_series', hiddenCount)
      this.#shown = { version, exposition }
    } finally {
      this.#running = undefined
    }
  }

  async #relabel(): Promise<void> {
    this.#isRelabelDue = false
    for (const table of [...this.#tables.all()]) await table.relabel(this.#more.added)
  }

  #forgetShown(): void {
    this.#shown?.exposition.release()
    this.#shown = undefined
  }

  /**
   * Adds a batch with its time of arrival. Returns the rest of the batch if its new series exceed the share of this
   * turn.
   */
  #take(batch: Batch, acceptedMs: number): Batch | undefined {
    if (batch.type.fingerprint === absenceType.fingerprint) return this.#takeAbsences(batch)
    if (batch.type.metrics.size > 0) return this.#takeRecords(batch, acceptedMs)
    this.stats.out += batch.count
    return undefined
  }

  /** Counts an error that has no caller. */
  #takeWaiting(batch: Batch, acceptedMs: number): Batch | undefined {
    const startMs = performance.now()
    try {
      return this.#take(batch, acceptedMs)
    } catch {
      this.stats.errors++
      this.#drop('failed', batch.count, batch)
      return undefined
    } finally {
      this.stats.seconds += (performance.now() - startMs) / 1000
    }
  }

  #takeRecords(batch: Batch, acceptedMs: number): Batch | undefined {
    const table = this.#tableOf(batch)
    if (table.isFullFor(batch.page?.client) && !this.#expire()) return batch
    const taken = table.take(batch, acceptedMs, this.#expiry.expiredMs(this.#config.nowMs()))
    this.#expiry.note(acceptedMs)
    if (taken.changed) this.#version++
    this.#drop('duplicate_series', taken.duplicate, batch)
    this.#drop('series_limit', taken.overSeriesLimit, batch)
    this.#drop('line_limit', taken.overLineLimit, batch)
    // A record without one of its metrics is not shown in full.
    if (this.#tables.hasRefused(table)) this.#drop('metric_conflict', taken.shown, batch)
    else this.stats.out += taken.shown
    return restOf(batch, taken.records)
  }

  #tableOf({ type, page }: Batch): MetricTable {
    if (this.#more.indexes.size > 0) this.#unfitIndexes.tell(type, this.#more.indexes)
    return this.#tables.of(type, page?.client, this.#more)
  }

  /** Takes series out that are absent as a whole. Returns the absences for which this turn has no time left. */
  #takeAbsences(batch: Batch): Batch | undefined {
    let taken = 0
    for (const absence of readAbsences(batch)) {
      if (absence.isWhole && !this.#removeSeries(batch.source, absence)) break
      this.stats.out++
      taken++
      if (turn.isOver()) break
    }
    return restOf(batch, taken)
  }

  /**
   * Removes a series that is absent as a whole; its next record adds it again. A whole type is removed for one life of
   * a host and earlier lives. False if the share of this turn is used up.
   */
  #removeSeries(source: SourceInfo, { type, series }: AbsentSeries): boolean {
    this.#version++
    for (const table of this.#tables.all()) {
      if (table.type.name !== type) continue
      if (series !== '') table.removeSeries(source, series)
      else if (!table.removeAll(source, lifeOf(source))) return false
    }
    return true
  }

  /**
   * Takes the rows of a source out, a step at a time. Then types without series are forgotten: without scrapes, the
   * types of clients that come and go would add up.
   */
  *#remove(source: SourceInfo): Generator<void> {
    for (const table of [...this.#tables.all()]) while (!table.removeAll(source)) yield
    yield* this.#tables.drop([...this.#tables.all()].filter(({ count }) => count === 0))
    this.#version++
  }

  /** Removes expired rows within the share of this turn. Returns whether all are removed. */
  #expire(): boolean {
    const nowMs = this.#config.nowMs()
    if (this.#expiry.isDue(nowMs)) this.#version++
    return this.#expiry.advance(nowMs)
  }

  #drop(reason: string, records: number, from?: Batch): void {
    countDrop(this.stats, reason, records)
    if (records === 0 || from === undefined) return
    this.#hidden.add(reason, records, from)
    this.#config.onDrop(from.source, reason, records)
  }
}

/** The rest of a batch after its first records; undefined if there is none. */
function restOf(batch: Batch, taken: number): Batch | undefined {
  if (taken === batch.count) return undefined
  const bytes = batch.bytes.subarray(taken * batch.type.layout.recordBytes)
  return { ...batch, count: batch.count - taken, bytes }
}

function once(call: () => void): () => void {
  let left = 1
  return () => {
    if (left-- === 1) call()
  }
}
