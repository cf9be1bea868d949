import type { RecordType } from '../../schema/record-type.ts'
import { allocateViews, type Views } from '../../schema/views.ts'
import type { Rows } from '../../wire/prometheus/lines.ts'

const NS_PER_MS = 1_000_000
const US_PER_MS = 1000
const TWO_32 = 4294967296
/** Where the record of a row is that has none in the batch in hand. */
const UNTOUCHED = -1
/** What is copied between two looks at the clock. Unit: bytes. */
const STEP_BYTES = 256 << 10

/** States of a row: not in use, shown, or waiting for another source with the same series to go. */
export const FREE = 0
export const SHOWN = 1
export const DUPLICATE = 2

let births = 0

/**
 * Memory of the rows of a table in two versions: the current rows, and the rows at the last fixed moment. To fix a
 * moment copies no row: rows that changed before it are copied later in steps, or at once before their next change.
 * Further columns hold other properties of each row.
 */
export class RowMemory {
  readonly #type: RecordType
  readonly #timestamps: boolean
  /** Row size. Unit: bytes; a multiple of 8. */
  readonly #strideBytes: number
  /**
   * Whether records, and the time in them, lie on whole words: then they are compared word by word, in a quarter of the
   * time.
   */
  readonly #isOfWords: boolean
  #live: Views = allocateViews(0)
  #shownBytes = new Uint8Array(0)
  #liveMs = new Float64Array(0)
  /** Rows that changed since the last moment. */
  #dirty = new Int32Array(0)
  #dirtyCount = 0
  /** Rows that changed before the fixed moment; the first `#fixedCount` are copied. */
  #due = new Int32Array(0)
  #dueCount = 0
  #fixedCount = 0
  /**
   * Of each row: 0, or the mark of the list that it is in. The two lists change places at every moment, and so do their
   * marks.
   */
  #marks = new Uint8Array(0)
  #dirtyMark = 1
  /** Rows that have a record in the batch in hand, and where its latest one is. */
  #touched = new Int32Array(0)
  #touchedCount = 0
  #touchedAt = new Float64Array(0)
  readonly #labels: Uint8Array[] = []
  readonly shown: Rows
  /** Rises when a row comes or goes, as of the moment that is shown. */
  shape = 0
  /** State of each row. */
  state = new Uint8Array(0)
  /** Columns in which another type of the family shows the row's series. */
  covered = new Uint16Array(0)
  /** When each row last had a record. Unit: milliseconds. */
  seenMs = new Float64Array(0)
  /** Order in which rows began to be shown, over all tables. */
  born = new Float64Array(0)
  /** Rows that were ever in use; they run from 0. */
  high = 0

  constructor(type: RecordType, timestamps: boolean) {
    this.#type = type
    this.#timestamps = timestamps && type.time !== undefined
    this.#strideBytes = (type.layout.recordBytes + 7) & ~7
    this.#isOfWords = type.layout.recordBytes % 4 === 0 && (type.time?.offset ?? 0) % 4 === 0
    this.shown = {
      data: new DataView(this.#shownBytes.buffer),
      strideBytes: this.#strideBytes,
      visible: new Uint8Array(0),
      labels: this.#labels,
      timesMs: new Float64Array(0),
    }
  }

  /** Whether a row changed since the last moment. */
  get changed(): boolean {
    return this.#dirtyCount > 0
  }

  /** The number of a row that was never in use. */
  append(): number {
    if (this.high === this.state.length) this.#grow(Math.max(16, this.high * 2))
    return this.high++
  }

  open(row: number, state: number, labels: string): void {
    this.#mark(row)
    this.state[row] = state
    this.born[row] = ++births
    this.#labels[row] = Buffer.from(labels)
  }

  /** Shows a row that waited. */
  promote(row: number): void {
    this.#mark(row)
    this.state[row] = SHOWN
    this.born[row] = ++births
  }

  /** Updates a row whose labels change. */
  relabel(row: number, state: number, labels: string): void {
    this.#mark(row)
    this.state[row] = state
    this.#labels[row] = Buffer.from(labels)
    this.shape++
  }

  /** The records as they came. */
  get live(): Views {
    return this.#live
  }

  /** Where the record of a row begins in `live`. Unit: bytes. */
  offsetOf(row: number): number {
    return row * this.#strideBytes
  }

  close(row: number): void {
    this.#mark(row)
    this.state[row] = FREE
    this.covered[row] = 0
  }

  /** Notes where the latest record of a row is in the batch in hand; whether it is the first one of the row there. */
  touch(row: number, offset: number): boolean {
    const isFirst = this.#touchedAt[row] === UNTOUCHED
    this.#touchedAt[row] = offset
    if (isFirst) this.#touched[this.#touchedCount++] = row
    return isFirst
  }

  /**
   * Touches the rows of records that lie one behind the other from `offset` on, the last one first: of the others of a
   * row nothing is to be seen. Whether each is of a row that is shown; where not, all are to be touched one by one.
   *
   * @param ids Which series each record is of; −1 for none.
   * @param rowOf The row of each series; −1 or nothing where it has none.
   */
  touchEach(
    ids: Int32Array,
    rowOf: readonly number[],
    { count, offset, nowMs }: { readonly count: number; readonly offset: number; readonly nowMs: number },
  ): boolean {
    const [touchedAt, state, covered] = [this.#touchedAt, this.state, this.covered]
    const { recordBytes } = this.#type.layout
    for (let i = count - 1, at = offset + i * recordBytes; i >= 0; i--, at -= recordBytes) {
      const id = ids[i]!
      const row = id < 0 ? -1 : (rowOf[id] ?? -1)
      if (row < 0) return false
      const before = touchedAt[row]!
      if (before >= offset) continue
      if (state[row] !== SHOWN || covered[row]! > 0) return false
      this.touch(row, at)
      this.seenMs[row] = nowMs
    }
    return true
  }

  /** Copies the latest record of each row that was touched. */
  putTouched(views: Views, isWallClock: boolean): void {
    for (let i = 0; i < this.#touchedCount; i++) {
      const row = this.#touched[i]!
      // A row that shares its series with another of the batch may have left for it.
      if (this.state[row] !== FREE) this.#put(row, views, this.#touchedAt[row]!, isWallClock)
      this.#touchedAt[row] = UNTOUCHED
    }
    this.#touchedCount = 0
  }

  /** The time alone is no change where lines do not carry it. */
  #put(row: number, views: Views, offset: number, isWallClock: boolean): void {
    this.#fixIfDue(row)
    const changed = this.#isOfWords ? this.#putWords(row, views, offset) : this.#putBytes(row, views, offset)
    const moved = this.#timestamps && this.#putTime(row, isWallClock)
    if (changed || moved) this.#mark(row)
  }

  /**
   * Makes now the moment that is shown. Gives the rows that changed since the last one: `fix` them all before lines
   * read them.
   */
  begin(): Int32Array {
    while (!this.fix());
    const due = this.#dirty
    this.#dirty = this.#due
    this.#due = due
    this.#dueCount = this.#dirtyCount
    this.#dirtyCount = 0
    this.#fixedCount = 0
    this.#dirtyMark = 3 - this.#dirtyMark
    return due.subarray(0, this.#dueCount)
  }

  /** Copies some of the rows that changed before the moment. Whether all are copied. */
  fix(): boolean {
    const end = Math.min(this.#fixedCount + Math.ceil(STEP_BYTES / this.#strideBytes), this.#dueCount)
    for (let i = this.#fixedCount; i < end; i++) this.#fixIfDue(this.#due[i]!)
    this.#fixedCount = end
    return end === this.#dueCount
  }

  #fixIfDue(row: number): void {
    if (this.#marks[row] !== 3 - this.#dirtyMark) return
    this.#marks[row] = 0
    if (row >= this.shown.visible.length) this.#growShown()
    const at = row * this.#strideBytes
    this.#shownBytes.set(this.#live.bytes.subarray(at, at + this.#strideBytes), at)
    if (this.#timestamps) this.shown.timesMs[row] = this.#liveMs[row]!
    const visible = this.state[row] === SHOWN ? 1 : 0
    if (this.shown.visible[row] === visible) return
    this.shown.visible[row] = visible
    this.shape++
  }

  #growShown(): void {
    const { shown } = this
    this.#shownBytes = grown(this.#shownBytes, new Uint8Array(this.#live.bytes.length))
    shown.data = new DataView(this.#shownBytes.buffer)
    shown.visible = grown(shown.visible, new Uint8Array(this.state.length))
    shown.timesMs = grown(shown.timesMs, new Float64Array(this.#timestamps ? this.state.length : 0))
  }

  /** Called before a row changes. */
  #mark(row: number): void {
    this.#fixIfDue(row)
    if (this.#marks[row] === this.#dirtyMark) return
    this.#marks[row] = this.#dirtyMark
    this.#dirty[this.#dirtyCount++] = row
  }

  #putWords(row: number, { u32: from }: Views, offset: number): boolean {
    const to = this.#live.u32
    const words = this.#type.layout.recordBytes >> 2
    const start = offset >> 2
    const at = row * (this.#strideBytes >> 2)
    // Past the last word where there is no time.
    const time = this.#type.time === undefined ? words : this.#type.time.offset >> 2
    let changed = false
    for (let word = 0; word < words; word++) {
      const value = from[start + word]!
      if (to[at + word] === value) continue
      to[at + word] = value
      if (word !== time && word !== time + 1) changed = true
    }
    return changed
  }

  #putBytes(row: number, { u8: from }: Views, offset: number): boolean {
    const to = this.#live.u8
    const { recordBytes } = this.#type.layout
    const at = row * this.#strideBytes
    const time = this.#type.time?.offset ?? recordBytes
    let changed = false
    for (let byte = 0; byte < recordBytes; byte++) {
      const value = from[offset + byte]!
      if (to[at + byte] === value) continue
      to[at + byte] = value
      if (byte < time || byte >= time + 8) changed = true
    }
    return changed
  }

  #putTime(row: number, isWallClock: boolean): boolean {
    const { time } = this.#type
    let timeMs = 0
    if (isWallClock && time !== undefined) {
      const at = row * this.#strideBytes + time.offset
      const low = this.#live.data.getUint32(at, true)
      const high = this.#live.data.getUint32(at + 4, true)
      timeMs = millisecondsOf(high, low, time.field.resolution === 'us' ? US_PER_MS : NS_PER_MS)
    }
    if (this.#liveMs[row] === timeMs) return false
    this.#liveMs[row] = timeMs
    return true
  }

  #grow(rows: number): void {
    const live = allocateViews(rows * this.#strideBytes)
    live.bytes.set(this.#live.bytes)
    this.#live = live
    this.state = grown(this.state, new Uint8Array(rows))
    this.covered = grown(this.covered, new Uint16Array(rows))
    this.seenMs = grown(this.seenMs, new Float64Array(rows))
    this.born = grown(this.born, new Float64Array(rows))
    this.#dirty = grown(this.#dirty, new Int32Array(rows))
    this.#due = grown(this.#due, new Int32Array(rows))
    this.#marks = grown(this.#marks, new Uint8Array(rows))
    this.#touched = grown(this.#touched, new Int32Array(rows))
    this.#touchedAt = grown(this.#touchedAt, new Float64Array(rows).fill(UNTOUCHED))
    if (this.#timestamps) this.#liveMs = grown(this.#liveMs, new Float64Array(rows))
  }
}

/** Whole milliseconds in `high * 2^32 + low` units, exactly. */
function millisecondsOf(high: number, low: number, unitsPerMs: number): number {
  const quotient = Math.floor(high / unitsPerMs)
  const rest = (high - quotient * unitsPerMs) * TWO_32 + low
  return quotient * TWO_32 + Math.floor(rest / unitsPerMs)
}

function grown<T extends Uint8Array | Uint16Array | Int32Array | Float64Array>(from: T, into: T): T {
  into.set(from)
  return into
}
