import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { LabelText } from '../../wire/prometheus/label-text.ts'
import { readAbsences } from '../prometheus/absences.ts'
import { RequestRows } from './request-rows.ts'
import { SentMetrics } from './sent-metrics.ts'
import { SentNames, type Shortened } from './sent-names.ts'
import { createRow, type SentRow } from './sent-row.ts'

/** Limits of a {@link SentSeries}. */
export interface BookLimits {
  /** Known series at most. Beyond, all series are forgotten: their labels are encoded again. */
  readonly seriesLimit: number
  /** Length of the labels of all known rows at most; beyond, the same. Unit: characters. Default: 64 Mi. */
  readonly labelCharsMax?: number
  /** Known types at most; beyond, the same. Default: 4096. */
  readonly typesMax?: number
  /** A series without a record for this time has ended. Unit: milliseconds. */
  readonly expiryMs: number
  /** A record that is further ahead of this machine's clock is refused. Unit: milliseconds. */
  readonly aheadMs: number
}

/** How the records of a type from one source find their rows. */
interface Binding {
  readonly index: SeriesIndex
  readonly labels: LabelText
  readonly rows: (SentRow | undefined)[]
  readonly columns: SentMetrics
  readonly owner: string
  /** Whether the source is of this process, and not of a client. */
  readonly isOwn: boolean
}

/** The rows of a type from one source. */
interface OwnedRows {
  readonly rows: Set<SentRow>
  readonly labels: LabelText
}

/** See {@link BookLimits.labelCharsMax}. A row has its labels about three times in memory. */
const LABEL_CHARS_MAX = 64 << 20
const TYPES_MAX = 4096
/** Between two searches for series that have expired. Unit: milliseconds. */
const EXPIRY_EVERY_MS = 10_000

/**
 * The series that the far end knows: the labels of each, its newest sample, and which of its values are there. It is
 * read and changed when records are encoded, so it holds what was sent and not what waits.
 */
export class SentSeries {
  readonly #limits: BookLimits
  readonly #monotonicMs: () => number
  readonly #rows = new Map<string, SentRow>()
  /** A disk queue makes other objects for the same source, so these are found again by their text. */
  #bindings = new WeakMap<SourceInfo, Map<RecordType, Binding>>()
  /** Rows by source and type. */
  readonly #owned = new Map<string, Map<string, OwnedRows>>()
  /** Rows that have ended, and since when. A later record continues its row. */
  readonly #ending = new Map<SentRow, number>()
  readonly #retired = new Map<string, number>()
  readonly #columns = new Map<string, SentMetrics>()
  readonly #names = new SentNames((type, labels) => this.#rows.get(keyOf(type, labels)))
  #seriesCount = 0
  #labelChars = 0
  #request = 0
  #expireAtMs = 0

  /** `monotonicMs` is a clock that never goes back. Unit: milliseconds. */
  constructor(limits: BookLimits, monotonicMs: () => number = () => performance.now()) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  /** Length of the labels of all known rows. Unit: characters. */
  get labelChars(): number {
    return this.#labelChars
  }

  /** Number of known series. */
  get seriesCount(): number {
    return this.#seriesCount
  }

  /** The rows of some batches, in the order of their first record. `nowMs`: since the Unix epoch. */
  collect(batches: readonly Batch[], nowMs: number): RequestRows {
    if (this.#isFull()) this.#forget()
    const request = new RequestRows(++this.#request)
    const moment = { nowMs, monotonicMs: this.#monotonicMs() }
    for (const [index, batch] of batches.entries()) {
      if (batch.type.fingerprint === absenceType.fingerprint) this.#takeAbsences(batch)
      else this.#takeRecords(index, batch, request, moment)
    }
    return request
  }

  /** A source ends when all its records have left the queue, which holds once a record after this moment has left. */
  retire(source: SourceInfo, nowMs: number): void {
    const owner = ownerText(source)
    if (this.#owned.has(owner)) this.#retired.set(owner, nowMs)
  }

  /** Whether series wait for their markers. */
  get hasEnding(): boolean {
    return this.#ending.size > 0
  }

  /**
   * The markers of the series that have ended. Call it when no request is under way: a marker stands behind the newest
   * sample. `newestMs`: time of the newest record that has arrived.
   */
  takeEnded(newestMs: number): RequestRows | undefined {
    for (const [owner, retiredMs] of this.#retired) {
      if (newestMs < retiredMs) continue
      this.#retired.delete(owner)
      for (const row of this.#rowsOf(owner)) this.#ending.set(row, newestMs)
    }
    this.#findExpired(this.#monotonicMs())
    if (this.#ending.size === 0) return undefined
    const rows = [...this.#ending.keys()]
    this.#ending.clear()
    return this.#endingOf(rows)
  }

  /** The markers of all series. Nothing may be collected afterwards. */
  endAll(): RequestRows {
    return this.#endingOf(this.#rows.values())
  }

  /** Markers have arrived or were refused: their series are forgotten. */
  ended({ rows }: RequestRows): void {
    for (const row of rows) if (this.#rows.get(row.key) === row) this.#remove(row)
  }

  /** Markers have not arrived: they are sent later. */
  endLater(request: RequestRows): void {
    request.undo()
    for (const row of request.rows) this.#ending.set(row, row.lastMs)
  }

  /** Frees the memory of encoded labels: they are encoded again. */
  forgetEncoded(): void {
    for (const row of this.#rows.values()) row.encoded.fill(undefined)
  }

  #endingOf(rows: Iterable<SentRow>): RequestRows {
    const request = new RequestRows(++this.#request)
    for (const row of rows) if (row.lastMs > 0) request.end(row)
    return request
  }

  #takeRecords(
    batchIndex: number,
    batch: Batch,
    request: RequestRows,
    { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
  ): void {
    const { type, count, bytes } = batch
    if (type.metrics.size === 0) return
    const binding = this.#bindingOf(batch)
    const views = viewsOf(bytes)
    const { recordBytes } = type.layout
    const latestMs = nowMs + this.#limits.aheadMs
    const late: number[] = []
    const ahead: number[] = []
    const taken: number[] = []
    const shortened: Record<Shortened, number[]> = { name: [], series: [] }
    request.begin(views)
    for (let i = 0, offset = 0; i < count; i++, offset += recordBytes) {
      const row = this.#rowOf(binding, views, offset, monotonicMs)
      const timeMs = timeMsOf(batch, views, offset)
      if (row === undefined) taken.push(i)
      else if (timeMs > latestMs) ahead.push(i)
      else if (!request.add(row, offset, timeMs)) late.push(i)
      else {
        row.seenMs = monotonicMs
        const why = this.#names.shortened(row)
        if (why !== undefined) shortened[why].push(i)
        if (timeMs > (this.#ending.get(row) ?? Number.POSITIVE_INFINITY)) this.#ending.delete(row)
      }
    }
    request.refuse(batchIndex, taken, 'another source reports the same series')
    // The other metrics of these records are sent.
    request.refuse(batchIndex, shortened.series, 'another type reports the same series')
    if (shortened.name.length > 0) request.refuse(batchIndex, shortened.name, this.#names.wordsOf(binding.columns))
    request.refuse(batchIndex, ahead, `the time of the record is more than ${this.#limits.aheadMs} ms ahead`)
    request.refuse(batchIndex, late, 'the time of the record is before that of a record that was sent')
  }

  #isFull(): boolean {
    const { seriesLimit, labelCharsMax = LABEL_CHARS_MAX, typesMax = TYPES_MAX } = this.#limits
    return this.#seriesCount > seriesLimit || this.#labelChars > labelCharsMax || this.#columns.size > typesMax
  }

  /** Undefined if another source has the series. */
  #rowOf(binding: Binding, views: Views, offset: number, monotonicMs: number): SentRow | undefined {
    const { index, rows } = binding
    const id = index.of(views, offset)
    const known = rows[id]
    if (known !== undefined && this.#rows.get(known.key) === known) return known
    const row = this.#rowOfText(binding, binding.labels.of(views, offset), monotonicMs)
    rows[id] = row
    return row
  }

  #rowOfText({ columns, owner, isOwn, labels }: Binding, text: string, monotonicMs: number): SentRow | undefined {
    const key = keyOf(columns.type.name, text)
    const known = this.#rows.get(key)
    if (known?.columns === columns && known.owner === owner) return known
    const isHeld = known !== undefined && known.owner !== owner && !this.#ending.has(known)
    if (isHeld && monotonicMs - known.seenMs <= this.#limits.expiryMs) return undefined
    const row = createRow(columns, owner, key, text)
    // The type keeps its names, because its new row comes before the other leaves.
    this.#names.enter(row, isOwn)
    if (known !== undefined) {
      // Another version of the type, or another source: the labels of its series are encoded again.
      this.#remove(known)
      const { lastMs, recordMs, born } = known
      Object.assign(row, { lastMs, recordMs, born })
    }
    this.#rows.set(key, row)
    this.#ownedBy(owner, columns.type.name, labels).add(row)
    this.#seriesCount += columns.laneCount
    this.#labelChars += key.length
    return row
  }

  #ownedBy(owner: string, type: string, labels: LabelText): Set<SentRow> {
    const types = this.#owned.get(owner) ?? new Map<string, OwnedRows>()
    const owned = types.get(type) ?? { rows: new Set<SentRow>(), labels }
    this.#owned.set(owner, types.set(type, owned))
    return owned.rows
  }

  #bindingOf({ source, type, page }: Batch): Binding {
    const types = this.#bindings.get(source) ?? new Map<RecordType, Binding>()
    const known = types.get(type)
    if (known !== undefined) return known
    const columns = this.#columns.get(type.fingerprint) ?? new SentMetrics(type)
    const labels = new LabelText(type, source)
    const ofSource = { owner: ownerText(source), isOwn: page === undefined }
    const binding = { index: new SeriesIndex(type), labels, rows: [], columns, ...ofSource }
    this.#columns.set(type.fingerprint, columns)
    this.#bindings.set(source, types.set(type, binding))
    return binding
  }

  #takeAbsences(batch: Batch): void {
    const owner = ownerText(batch.source)
    const wholeTypes = new Set<string>()
    for (const { type, series, timeMs, isWhole } of readAbsences(batch)) {
      if (!isWhole || wholeTypes.has(type)) continue
      if (series === '') wholeTypes.add(type)
      const { labels } = this.#owned.get(owner)?.get(type) ?? {}
      if (labels === undefined) continue
      const rows = series === '' ? this.#rowsOf(owner, type) : [this.#rows.get(keyOf(type, labels.ofKey(series)))]
      for (const row of rows) if (row?.owner === owner) this.#ending.set(row, Math.max(timeMs, row.recordMs))
    }
  }

  #rowsOf(owner: string, type?: string): readonly SentRow[] {
    const types = this.#owned.get(owner)
    const all = type === undefined ? [...(types?.values() ?? [])] : [types?.get(type)]
    return all.flatMap((owned) => [...(owned?.rows ?? [])])
  }

  #findExpired(monotonicMs: number): void {
    if (monotonicMs < this.#expireAtMs) return
    this.#expireAtMs = monotonicMs + EXPIRY_EVERY_MS
    for (const row of this.#rows.values())
      if (monotonicMs - row.seenMs > this.#limits.expiryMs) this.#ending.set(row, row.recordMs)
  }

  #remove(row: SentRow): void {
    const { owner, columns } = row
    this.#names.leave(row)
    this.#rows.delete(row.key)
    this.#ending.delete(row)
    this.#seriesCount -= columns.laneCount
    this.#labelChars -= row.key.length
    const types = this.#owned.get(owner)
    const rows = types?.get(columns.type.name)?.rows
    rows?.delete(row)
    if (rows?.size === 0) types?.delete(columns.type.name)
    if (types?.size === 0) this.#owned.delete(owner)
  }

  #forget(): void {
    this.#rows.clear()
    this.#owned.clear()
    this.#ending.clear()
    this.#retired.clear()
    this.#columns.clear()
    this.#names.clear()
    this.#bindings = new WeakMap()
    this.#seriesCount = 0
    this.#labelChars = 0
  }
}

function keyOf(type: string, text: string): string {
  return `${type}{${text}}`
}

/** A source and its successor have the same text. */
function ownerText({ id, tag, labels }: SourceInfo): string {
  return JSON.stringify([id, tag, labels])
}

/** Rounds: a time in nanoseconds is not exact as a double. Records without a wall time have that of their arrival. */
function timeMsOf({ type: { time }, clock, arrivedMs }: Batch, { data }: Views, offset: number): number {
  if (time === undefined || clock !== 'wall') return Math.round(performance.timeOrigin + arrivedMs)
  const at = offset + time.offset
  const given = data.getUint32(at + 4, true) * 2 ** 32 + data.getUint32(at, true)
  return Math.round(time.field.resolution === 'us' ? given / 1e3 : given / 1e6)
}
