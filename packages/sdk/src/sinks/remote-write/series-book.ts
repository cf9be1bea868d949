import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { LabelText } from '../../wire/prometheus/label-text.ts'
import { readAbsences } from '../prometheus/absences.ts'
import { type Columns, columnsOf } from './columns.ts'
import { RequestRows } from './request-rows.ts'
import { createRow, type Row } from './rows.ts'

/** Limits of a {@link SeriesBook}. */
export interface BookLimits {
  /** Known series at most. Beyond, all series are forgotten: their labels are encoded again. */
  readonly seriesLimit: number
  /** A series without a record for this time has ended. Unit: milliseconds. */
  readonly expiryMs: number
  /** A record that is further ahead of this machine's clock is refused. Unit: milliseconds. */
  readonly aheadMs: number
}

/** How the records of a type from one source find their rows. */
interface Binding {
  readonly index: SeriesIndex
  readonly labels: LabelText
  readonly rows: (Row | undefined)[]
  readonly columns: Columns
  readonly owner: string
}

/** Between two searches for series that have expired. Unit: milliseconds. */
const EXPIRY_EVERY_MS = 10_000

/**
 * The series that the far end knows: the labels of each, its newest sample, and which of its values are there. It is
 * read and changed when records are encoded, so it holds what was sent and not what waits.
 */
export class SeriesBook {
  readonly #limits: BookLimits
  readonly #rows = new Map<string, Row>()
  /** A disk queue makes other objects for the same source, so these are found again by their text. */
  #bindings = new WeakMap<SourceInfo, Map<RecordType, Binding>>()
  readonly #columns = new Map<string, Columns>()
  #seriesCount = 0
  #request = 0
  #expireAtMs = 0

  constructor(limits: BookLimits) {
    this.#limits = limits
  }

  /** Number of known series. */
  get seriesCount(): number {
    return this.#seriesCount
  }

  /** The rows of some batches, in the order of their first record. `nowMs`: since the Unix epoch. */
  collect(batches: readonly Batch[], nowMs: number): RequestRows {
    if (this.#seriesCount > this.#limits.seriesLimit) this.#forget()
    const request = new RequestRows(++this.#request)
    const monotonicMs = performance.now()
    for (const [index, batch] of batches.entries()) {
      if (batch.type.fingerprint === absenceType.fingerprint) this.#takeAbsences(batch, request, nowMs)
      else this.#takeRecords(index, batch, request, { nowMs, monotonicMs })
    }
    if (monotonicMs >= this.#expireAtMs) this.#expire(request, monotonicMs)
    return request
  }

  /** The far end has all of it. */
  settle({ rows }: RequestRows): void {
    for (const row of rows) if (row.isEnded && this.#rows.get(row.key) === row) this.#remove(row)
  }

  /** The markers of all series, which end now. Nothing may be collected afterwards. */
  endAll(nowMs: number): RequestRows {
    const request = new RequestRows(++this.#request)
    for (const row of this.#rows.values()) request.end(row, nowMs)
    return request
  }

  #takeRecords(
    batchIndex: number,
    batch: Batch,
    request: RequestRows,
    { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
  ): void {
    const { type, count, source, bytes } = batch
    if (type.metrics.size === 0) return
    const binding = this.#bindingOf(source, type)
    const views = viewsOf(bytes)
    const { recordBytes } = type.layout
    const latestMs = nowMs + this.#limits.aheadMs
    const late: number[] = []
    const ahead: number[] = []
    request.begin(views)
    for (let i = 0, offset = 0; i < count; i++, offset += recordBytes) {
      const row = this.#rowOf(binding, views, offset)
      const timeMs = timeMsOf(batch, views, offset)
      if (timeMs > latestMs) ahead.push(i)
      else if (!request.add(row, offset, timeMs)) late.push(i)
      row.seenMs = monotonicMs
    }
    request.refuse(batchIndex, ahead, `the time of the record is more than ${this.#limits.aheadMs} ms ahead`)
    request.refuse(batchIndex, late, 'the time of the record is before that of a record that was sent')
  }

  #rowOf(binding: Binding, views: Views, offset: number): Row {
    const { index, rows } = binding
    const id = index.of(views, offset)
    const known = rows[id]
    if (known !== undefined && this.#rows.get(known.key) === known) return known
    const row = this.#rowOfText(binding, binding.labels.of(views, offset))
    rows[id] = row
    return row
  }

  #rowOfText({ columns, owner }: Binding, text: string): Row {
    const key = keyOf(columns.type.name, text)
    const known = this.#rows.get(key)
    if (known?.columns === columns) return known
    // Another version of the type: the labels of its series are encoded again.
    if (known !== undefined) this.#remove(known)
    const row = createRow(columns, owner, key, text)
    if (known !== undefined) Object.assign(row, { lastMs: known.lastMs, recordMs: known.recordMs })
    this.#rows.set(key, row)
    this.#seriesCount += columns.laneCount
    return row
  }

  #bindingOf(source: SourceInfo, type: RecordType): Binding {
    const types = this.#bindings.get(source) ?? new Map<RecordType, Binding>()
    const known = types.get(type)
    if (known !== undefined) return known
    const columns = this.#columns.get(type.fingerprint) ?? columnsOf(type)
    const labels = new LabelText(type, source)
    const binding = { index: new SeriesIndex(type), labels, rows: [], columns, owner: ownerText(source) }
    this.#columns.set(type.fingerprint, columns)
    this.#bindings.set(source, types.set(type, binding))
    return binding
  }

  #takeAbsences(batch: Batch, request: RequestRows, nowMs: number): void {
    const owner = ownerText(batch.source)
    for (const { type, series, isWhole } of readAbsences(batch)) {
      if (!isWhole) continue
      for (const row of this.#rowsOf(owner, type, series)) request.end(row, nowMs)
    }
  }

  #rowsOf(owner: string, type: string, series: string): readonly Row[] {
    return [...this.#rows.values()].filter(
      (row) =>
        row.owner === owner && row.columns.type.name === type && (series === '' || row.key === keyOf(type, series)),
    )
  }

  /** Ends series without a record for long. Their markers stand behind their last sample. */
  #expire(request: RequestRows, monotonicMs: number): void {
    this.#expireAtMs = monotonicMs + EXPIRY_EVERY_MS
    const { expiryMs } = this.#limits
    for (const row of this.#rows.values()) {
      if (monotonicMs - row.seenMs > expiryMs) request.end(row, row.lastMs + expiryMs)
    }
  }

  #remove(row: Row): void {
    this.#rows.delete(row.key)
    this.#seriesCount -= row.columns.laneCount
  }

  #forget(): void {
    this.#rows.clear()
    this.#columns.clear()
    this.#bindings = new WeakMap()
    this.#seriesCount = 0
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
