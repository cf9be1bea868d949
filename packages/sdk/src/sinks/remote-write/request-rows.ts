import type { RefusedRecords } from '../../delivery/sender.ts'
import type { Views } from '../../schema/views.ts'
import type { SentRow } from './sent-row.ts'

/** The offset of an entry that ends the series of its row. */
export const ENDS = -1
/** No further entry. */
export const NO_ENTRY = -1

/** How much later than its record a sample may be. Unit: milliseconds. */
const SHIFT_MS_MAX = 100

/** The records of one request by row, oldest first, and all that it takes to forget that they were sent. */
export class RequestRows {
  readonly rows: SentRow[] = []
  /** First entry of each row. */
  readonly heads: number[] = []
  /** Bytes, offset and time of each entry, and the next entry of its row. */
  readonly views: Views[] = []
  readonly offsets: number[] = []
  readonly timesMs: number[] = []
  readonly next: number[] = []
  /** Records that are not sent. */
  readonly refused: RefusedRecords[] = []
  /** Time of the newest record. */
  newestMs = Number.NEGATIVE_INFINITY
  readonly #id: number
  readonly #tails: number[] = []
  /** The newest sample and record of each row before this request. */
  readonly #beforeMs: { readonly lastMs: number; readonly recordMs: number }[] = []
  readonly #ended: { readonly row: SentRow; readonly lane: number }[] = []
  #views: Views | undefined

  constructor(id: number) {
    this.#id = id
  }

  /** The next records are of these bytes. */
  begin(views: Views): void {
    this.#views = views
  }

  /**
   * Adds a record. A record in the millisecond of the sample before it gets the next millisecond. If samples are then
   * too far from their records, the last record of a millisecond counts. False if a later record of the row was sent.
   */
  add(row: SentRow, offset: number, timeMs: number): boolean {
    if (timeMs < row.recordMs) return false
    const tail = row.request === this.#id ? this.#tails[row.place]! : NO_ENTRY
    if (row.lastMs - timeMs >= SHIFT_MS_MAX && tail !== NO_ENTRY) {
      this.offsets[tail] = offset
      this.views[tail] = this.#views!
      return true
    }
    this.#append(row, offset, Math.max(timeMs, row.lastMs + 1))
    row.recordMs = timeMs
    if (timeMs > this.newestMs) this.newestMs = timeMs
    return true
  }

  /** Ends the series of a row, behind its newest sample. */
  end(row: SentRow): void {
    this.#append(row, ENDS, row.lastMs + 1)
  }

  /** Time of the newest sample of a row before this request. */
  beforeMs(place: number): number {
    return this.#beforeMs[place]!.lastMs
  }

  /** A lane ends in this request. */
  noteEnd(row: SentRow, lane: number): void {
    this.#ended.push({ row, lane })
  }

  /** Records that are not sent, of a batch. */
  refuse(batch: number, records: readonly number[], reason: string): void {
    if (records.length > 0) this.refused.push({ batch, records, reason })
  }

  /** Nothing of it has arrived: it can be collected again. */
  undo(): void {
    for (const [place, row] of this.rows.entries()) {
      const { lastMs, recordMs } = this.#beforeMs[place]!
      row.lastMs = Math.min(row.lastMs, lastMs)
      row.recordMs = Math.min(row.recordMs, recordMs)
      row.counts.fill(Number.NaN)
    }
    for (const { row, lane } of this.#ended) row.live[lane] = 1
  }

  #append(row: SentRow, offset: number, timeMs: number): void {
    const entry = this.offsets.length
    this.views.push(this.#views!)
    this.offsets.push(offset)
    this.timesMs.push(timeMs)
    this.next.push(NO_ENTRY)
    if (row.request === this.#id) this.next[this.#tails[row.place]!] = entry
    else {
      row.request = this.#id
      row.place = this.rows.length
      this.rows.push(row)
      this.heads.push(entry)
      this.#tails.push(entry)
      this.#beforeMs.push({ lastMs: row.lastMs, recordMs: row.recordMs })
    }
    this.#tails[row.place] = entry
    row.lastMs = timeMs
  }
}
