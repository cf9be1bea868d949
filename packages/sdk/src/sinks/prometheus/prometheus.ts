import type { FieldSet } from '../../fieldset/fieldset.ts'
import { turn } from '../../internal/turn.ts'
import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { absenceType, lossType } from '../../schema/builtin.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { CONTENT_TYPES } from '../../wire/prometheus/header.ts'
import { acceptsGzip, negotiateFormat } from '../../wire/prometheus/negotiate.ts'
import { ClientLosses } from '../client-losses.ts'
import { countDrop, type Sink, sinkStats } from '../sink.ts'
import { sourceFilter } from '../source-tags.ts'
import { renderMoment, takeMoment } from './collect.ts'
import { Column } from './column.ts'
import { type PrometheusConfig, type PrometheusOptions, prometheusConfig } from './config.ts'
import { bytesOf, type Exposition } from './exposition.ts'
import { Families, type MetricConflict, type MetricFields, metricsOf, type Refused } from './families.ts'
import { UnfitIndexes } from './indexes.ts'
import { Quota } from './quota.ts'
import { type Absence, Reasons, readAbsences } from './reasons.ts'
import { type MoreLabels, Table } from './table.ts'
import { type LabelFileHealth, ViewLabels } from './view-labels.ts'
import { Waiting } from './waiting.ts'

/** Headers of a scrape that matter. */
export interface ScrapeHeaders {
  /** `Accept`: which format. Default: text 0.0.4. */
  readonly accept?: string | undefined
  /** `Accept-Encoding`: whether gzip is taken. Default: no. */
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
  /** The body was sent, or nobody wants it: the view may write over its bytes. Left out, the view copies what changes. May be called twice. */
  release(): void
}

/** Bodies below this are sent as they are. Unit: bytes. */
const GZIP_FROM_BYTES = 1024

/**
 * Makes the Prometheus view: it keeps the latest record of every series and shows it as text 0.0.4 or OpenMetrics 1.0.
 *
 * @throws SondeError `PRM_OPTION` where an option is out of its range, `PRM_LABELS` with file and line where a label is none.
 * @example
 * const prometheus = createPrometheus()
 * const source = createSource({ id: 'app', emit: (batch) => prometheus.accept(batch) })
 * createServer(metricsHandler(prometheus)).listen(9394)
 */
export function createPrometheus(options: PrometheusOptions = {}): Prometheus {
  return new Prometheus(prometheusConfig(options))
}

/** See {@link createPrometheus}. Not for `new`: options are checked there. */
export class Prometheus implements Sink {
  readonly name: string
  readonly stats = sinkStats()
  readonly #config: PrometheusConfig
  readonly #tables = new Map<string, Table>()
  readonly #families = new Families()
  readonly #reasons = new Reasons()
  /** Metrics that have no column. */
  readonly #refused = new Map<Table, Set<Refused>>()
  readonly #labels: ViewLabels
  #more: MoreLabels
  /** Whether rows have labels that the label file no longer says. */
  #isRelabelDue = false
  readonly #unfitIndexes = new UnfitIndexes()
  readonly #isFor: (source: SourceInfo) => boolean
  readonly #hidden = new ClientLosses()
  /** Rises when what is shown changes. */
  #version = 0
  #shown: { readonly version: number; readonly exposition: Exposition } | undefined
  #running: Promise<void> | undefined
  /** Lines of all tables. */
  readonly #lines: Quota
  readonly #waiting = new Waiting()
  /** Sources whose rows are being taken out, in the order in which they left. */
  readonly #leaving = new Set<SourceInfo>()
  /** While batches wait, or sources leave. */
  #settling: Promise<void> | undefined
  /** Before this time no series expires. Unit: milliseconds. */
  #expiryDueMs = Number.POSITIVE_INFINITY
  #closed = false

  constructor(config: PrometheusConfig) {
    this.#config = config
    this.name = config.name
    this.#labels = new ViewLabels(config)
    this.#more = { indexes: new Set(config.indexes), added: this.#labels.rules }
    this.#lines = new Quota(config.lineLimit)
    this.#isFor = sourceFilter(config.sourceTags)
  }

  /** Lines of all live series, those whose value is absent included. */
  get seriesCount(): number {
    let lines = 0
    for (const table of this.#tables.values()) lines += table.count * table.linesPerRow
    return lines
  }

  /** How the label file fares; undefined where there is none. */
  get labelFile(): LabelFileHealth | undefined {
    return this.#labels.hasFile ? this.#labels : undefined
  }

  /** Looks whether the label file changed; what it says now holds for all series from the next collect on. Every collect does it itself. */
  async followLabelFile(): Promise<void> {
    await this.#labels.look()
    const { rules } = this.#labels
    if (rules === this.#more.added) return
    this.#more = { ...this.#more, added: rules }
    this.#isRelabelDue = true
    this.#version++
  }

  /** Batches of sources whose tag is not for this view do not reach it, and are not counted. */
  accept(batch: Batch): void {
    if (!this.#isFor(batch.source)) return
    const startMs = performance.now()
    this.stats.in += batch.count
    if (this.#closed) this.#drop('closed', batch.count, batch.source)
    else if (batch.bytes.length !== batch.count * batch.type.layout.recordBytes) {
      this.stats.errors++
      this.#drop('wrong_size', batch.count, batch.source)
    } else {
      // Rows of a source that left keep their place and their series until they are taken out.
      const isBehind = this.#leaving.size > 0 || this.#waiting.has(batch.source)
      const rest = isBehind ? batch : this.#take(batch)
      if (rest !== undefined) this.#wait(rest)
    }
    this.stats.seconds += (performance.now() - startMs) / 1000
  }

  /** The sources of which something is shown, or said to be absent. */
  sources(): ReadonlySet<SourceInfo> {
    const tables = [...this.#tables.values()]
    return new Set([...tables.flatMap((table) => [...table.sources()]), ...this.#reasons.sources()])
  }

  /** Takes every series of a source out: its client or device is gone. Every later `collect` shows none of them. */
  removeSource(source: SourceInfo): void {
    this.stats.out += this.#waiting.remove(source)
    this.#reasons.removeSource(source)
    this.#leaving.add(source)
    if (turn.isOver() || !this.#removeLeaving(source)) this.#settling ??= this.#settle()
    this.#version++
  }

  /** Metrics that were refused, because another type has their name with another kind, unit or form. */
  conflicts(): readonly MetricConflict[] {
    const refused = [...this.#refused.values()].flatMap((metrics) => [...metrics])
    return refused.map(({ table, fields: { metric, slots }, owner, reason }) => ({
      metric,
      type: table.type.name,
      field: slots[0].name,
      reason: reason(),
      owner: owner?.name,
    }))
  }

  /**
   * The text of everything accepted so far; the caller releases it. Made at most once for what is shown: callers share it while
   * nothing changes, and share the one that is being made.
   */
  async collect(): Promise<Exposition> {
    while (this.#settling !== undefined) await this.#settling
    this.#expire()
    this.#unfitIndexes.tellMissing(
      [...this.#tables.values()].map(({ type }) => type),
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
    const contentType = CONTENT_TYPES[format]
    const bytes = exposition.bytes(format)
    if (!acceptsGzip(headers.acceptEncoding) || bytes < GZIP_FROM_BYTES) {
      return { contentType, chunks: exposition.chunks(format), bytes, release: once(() => exposition.release()) }
    }
    try {
      const chunks = await exposition.gzipped(format)
      return { contentType, contentEncoding: 'gzip', chunks, bytes: bytesOf(chunks), release: () => undefined }
    } finally {
      exposition.release()
    }
  }

  takeHidden(client: bigint, upTo: bigint): ReadonlyMap<bigint, number> {
    return this.#hidden.take(client, upTo)
  }

  /** Resolves when everything accepted so far is visible, which most often is at once. */
  async flush(): Promise<void> {
    await this.#settling
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#drop('closed', this.#waiting.removeAll())
    this.#leaving.clear()
    this.#dropTables([...this.#tables.values()])
    this.#forgetShown()
    this.#version++
  }

  async #render(): Promise<void> {
    this.#forgetShown()
    try {
      if (this.#isRelabelDue) await this.#relabel()
      // What came before may have used this turn up.
      if (turn.isOver()) await turn.next()
      const version = this.#version
      const { exposition, hiddenCount } = await renderMoment(
        takeMoment(this.#tables.values(), this.#families, this.#reasons),
      )
      // Their last records were counted as shown before it was known that another type has the series.
      this.stats.out -= hiddenCount
      this.#drop('duplicate_series', hiddenCount)
      this.#shown = { version, exposition }
    } finally {
      this.#running = undefined
    }
  }

  async #relabel(): Promise<void> {
    this.#isRelabelDue = false
    for (const table of [...this.#tables.values()]) await table.relabel(this.#more.added)
  }

  #forgetShown(): void {
    this.#shown?.exposition.release()
    this.#shown = undefined
  }

  /** Takes a batch, and gives what is left of it where its new series take longer than this turn has room for. */
  #take(batch: Batch): Batch | undefined {
    if (batch.type.fingerprint === absenceType.fingerprint) return this.#takeAbsences(batch)
    if (batch.type.metrics.size === 0) this.stats.out += batch.count
    else return this.#takeRecords(batch)
    return undefined
  }

  #wait(batch: Batch): void {
    if (!this.#waiting.add(batch)) this.#drop('waiting_limit', batch.count, batch.source)
    this.#settling ??= this.#settle()
  }

  /** Removes what leaves and takes what waits, in as many turns as it takes. */
  async #settle(): Promise<void> {
    await turn.next()
    while (this.#leaving.size > 0 || this.#waiting.first !== undefined) {
      while (turn.isOver()) await turn.next()
      const [leaving] = this.#leaving
      const { first } = this.#waiting
      if (leaving !== undefined) this.#removeLeaving(leaving)
      else if (first !== undefined) this.#waiting.replaceFirst(this.#takeWaiting(first))
    }
    this.#settling = undefined
  }

  /** Takes rows of a source out that leaves, as many as this turn has room for. Whether none is left. */
  #removeLeaving(source: SourceInfo): boolean {
    for (const table of this.#tables.values()) if (!table.removeAll(source)) return false
    this.#leaving.delete(source)
    this.#dropUnused()
    this.#version++
    return true
  }

  /** Forgets types without series, but for those that HELP says something of: where nobody scrapes, those of clients that come and go would add up. */
  #dropUnused(): void {
    const unused = [...this.#tables.values()].filter(({ count }) => count === 0)
    if (unused.length === 0) return
    const absent = new Set(Array.from(this.#reasons.all(), ({ type }) => type))
    this.#dropTables(unused.filter(({ type }) => !absent.has(type.name)))
  }

  /** There is nobody to throw at. */
  #takeWaiting(batch: Batch): Batch | undefined {
    const startMs = performance.now()
    try {
      return this.#take(batch)
    } catch {
      this.stats.errors++
      this.#drop('failed', batch.count, batch.source)
      return undefined
    } finally {
      this.stats.seconds += (performance.now() - startMs) / 1000
    }
  }

  #takeRecords(batch: Batch): Batch | undefined {
    const { seriesExpiryS, nowMs } = this.#config
    const now = nowMs()
    const table = this.#tableOf(batch.type)
    if (table.isFullFor(batch.page?.client)) this.#expire()
    const expiredMs = now - seriesExpiryS * 1000
    const taken = table.take(batch, now, expiredMs)
    this.#expiryDueMs = Math.min(this.#expiryDueMs, now + seriesExpiryS * 1000)
    if (taken.changed) this.#version++
    this.#drop('duplicate_series', taken.duplicate, batch.source)
    // What a process says of its own losses, each of its schemas says.
    if (batch.type.fingerprint !== lossType.fingerprint) this.#hidden.add(batch.page, taken.duplicate)
    this.#drop('series_limit', taken.overSeriesLimit, batch.source)
    this.#drop('line_limit', taken.overLineLimit, batch.source)
    // A record that lost one of its metrics was not shown in full.
    if (this.#refused.has(table)) this.#drop('metric_conflict', taken.shown, batch.source)
    else this.stats.out += taken.shown
    return restOf(batch, taken.records)
  }

  /** Takes absences, and gives what is left where this turn has no room for more. */
  #takeAbsences(batch: Batch): Batch | undefined {
    const now = this.#config.nowMs()
    let taken = 0
    for (const absence of readAbsences(batch)) {
      const isWhole = absence.field === '' && absence.code !== ''
      if (isWhole && !this.#removeSeries(batch.source, absence)) break
      if (this.#reasons.take(batch, absence, now)) this.stats.out++
      else this.#drop('absence_limit', 1, batch.source)
      taken++
      if (turn.isOver()) break
    }
    this.#expiryDueMs = Math.min(this.#expiryDueMs, now + this.#config.seriesExpiryS * 1000)
    this.#version++
    return restOf(batch, taken)
  }

  /** A series that is absent as a whole is not shown with its last value; its next record brings it back. False where this turn has no room for all. */
  #removeSeries(source: SourceInfo, { type, series }: Absence): boolean {
    for (const table of this.#tables.values()) {
      if (table.type.name !== type) continue
      if (series !== '') table.remove(source, series)
      else if (!table.removeAll(source)) return false
    }
    return true
  }

  #expire(): void {
    const { seriesExpiryS, nowMs } = this.#config
    const now = nowMs()
    if (now < this.#expiryDueMs) return
    const expiredMs = now - seriesExpiryS * 1000
    let oldestMs = Number.POSITIVE_INFINITY
    const unused: Table[] = []
    for (const table of this.#tables.values()) {
      oldestMs = Math.min(oldestMs, table.expire(expiredMs))
      if (table.count === 0 && table.seenMs <= expiredMs) unused.push(table)
      else oldestMs = Math.min(oldestMs, table.seenMs)
    }
    this.#dropTables(unused)
    this.#reasons.expire(expiredMs)
    this.#expiryDueMs = Math.max(now + 1000, oldestMs + seriesExpiryS * 1000)
    this.#version++
  }

  #tableOf(type: RecordType): Table {
    const known = this.#tables.get(type.fingerprint)
    if (known !== undefined) return known
    const limits = { rows: this.#config.seriesLimit, lines: this.#lines }
    const table = new Table(type, this.#config.timestamps, this.#more, limits)
    this.#tables.set(type.fingerprint, table)
    this.#unfitIndexes.tell(type, this.#more.indexes)
    for (const fields of metricsOf(table.type)) if (!this.#join(table, fields)) this.stats.errors++
    return table
  }

  /** Gives a metric of a table its column, if it may have one. */
  #join(table: Table, fields: MetricFields): boolean {
    const joined = this.#families.join(table, fields, this.#config.timestamps)
    if (joined instanceof Column) {
      table.add(joined)
      return true
    }
    const refused = this.#refused.get(table)
    if (refused === undefined) this.#refused.set(table, new Set([joined]))
    else refused.add(joined)
    return false
  }

  /**
   * Forgets types without series; metrics that they kept from others are theirs now. All leave before the first of the others joins: else each
   * would pass its metrics on to the next that leaves, and every other type would ask anew each time.
   */
  #dropTables(tables: readonly Table[]): void {
    for (const table of tables) {
      this.#tables.delete(table.type.fingerprint)
      for (const refused of this.#refused.get(table) ?? []) refused.owner?.refused.delete(refused)
      this.#refused.delete(table)
    }
    for (const free of this.#families.leave(tables.flatMap(({ columns }) => columns))) {
      const refused = this.#refused.get(free.table)
      refused?.delete(free)
      if (refused?.size === 0) this.#refused.delete(free.table)
      this.#join(free.table, free.fields)
    }
  }

  #drop(reason: string, records: number, source?: SourceInfo): void {
    countDrop(this.stats, reason, records)
    if (records > 0 && source !== undefined && reason !== 'closed') this.#config.onDrop(source, reason, records)
  }
}

/** What is left of a batch after its first records; undefined where nothing is. */
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
