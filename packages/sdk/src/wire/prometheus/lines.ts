import type { Lane, Lanes, LoadLanes } from './lanes.ts'
import {
  digitsOf,
  finiteWidth,
  signedWidth,
  specialText,
  writeDigits,
  writeFinite,
  writeSigned,
  writeUnsigned,
} from './number.ts'
import { type Lent, Page } from './page.ts'

/** The rows that lines show: packed records of one type at a fixed stride, as they were at one moment. */
export interface Rows {
  data: DataView
  readonly strideBytes: number
  /** 1 where the row is shown. */
  visible: Uint8Array
  /** Label text of each row, in bytes. */
  readonly labels: readonly Uint8Array[]
  /** Time of each row. Unit: milliseconds since the Unix epoch; 0 is none. Only read where lines carry it. */
  timesMs: Float64Array
}

/** Timestamp behind the value: none, whole milliseconds (text 0.0.4) or seconds with three decimals (OpenMetrics). */
export type TimeStyle = 'none' | 'milliseconds' | 'seconds'

interface LineText {
  readonly open: Buffer
  readonly close: Buffer
  readonly bare: Buffer
}

const PAGE_LINES = 256
/** Text that is copied or laid out between two looks at the clock. Unit: bytes. */
const STEP_BYTES = 256 << 10
const NOTE_WORDS = 4
const LOW = 1
const HIGH = 2
const TIME_WIDTH: Readonly<Record<TimeStyle, number>> = { none: 0, milliseconds: 14, seconds: 15 }
const TIME_LIMIT_MS = 1e13

const float = new Float64Array(1)
const floatWords = new Uint32Array(float.buffer)

/**
 * The cached text lines of one metric over all rows of a type: a changed value overwrites its old text. A page of about
 * 256 lines is laid out again if a line is added or removed, a number needs more space, or a value becomes or was NaN
 * or infinite.
 */
export class Lines {
  readonly #lanes: readonly Lane[]
  readonly #texts: readonly LineText[]
  readonly #load: LoadLanes
  readonly #time: TimeStyle
  readonly #rowsPerPage: number
  readonly #pages: Page[] = []
  /** The record in hand. */
  readonly #low: Uint32Array
  readonly #high: Uint32Array
  /**
   * The state of each line in four words, so that it fits a cache line: the offset of the value in its page (0 if there
   * is no line), and the low and high word of the written value.
   */
  #notes = new Uint32Array(0)
  #shownMs = new Float64Array(0)
  #rowLimit = 0
  #width = 1
  /**
   * 1 where a row is left out, because another type shows the same series. It may be shorter than the rows are many.
   */
  hidden = new Uint8Array(0)

  constructor({ lanes, load }: Lanes, time: TimeStyle) {
    this.#lanes = lanes
    this.#texts = lanes.map(lineText)
    this.#load = load
    this.#time = time
    this.#rowsPerPage = Math.max(1, Math.floor(PAGE_LINES / lanes.length))
    this.#low = new Uint32Array(lanes.length)
    this.#high = new Uint32Array(lanes.length)
  }

  /** Number of pages. */
  get pageCount(): number {
    return this.#pages.length
  }

  /** Lines in the text as of the last layout. */
  get lineCount(): number {
    return this.#pages.reduce((sum, page) => sum + page.lines, 0)
  }

  /** Makes room for rows `0` to `rowCount - 1`. */
  reserve(rowCount: number): void {
    while (this.#pages.length * this.#rowsPerPage < rowCount) this.#pages.push(new Page())
    if (rowCount <= this.#rowLimit) return
    this.#rowLimit = Math.max(rowCount, this.#rowLimit * 2)
    this.#notes = grown(this.#notes, new Uint32Array(this.#rowLimit * this.#lanes.length * NOTE_WORDS))
    if (this.#time !== 'none') this.#shownMs = grown(this.#shownMs, new Float64Array(this.#rowLimit))
  }

  /** Lays the page of a row out again, even if its values are unchanged. */
  invalidate(row: number): void {
    const page = this.#pages[Math.floor(row / this.#rowsPerPage)]
    if (page !== undefined) page.stale = true
  }

  /**
   * Brings the text of rows that changed, came or went up to date: those of `list` from index `from` to `to` at most.
   * Returns where it stopped, because it had copied as much as a step may.
   */
  patch(rows: Rows, list: Int32Array, from: number, to: number): number {
    let copiedBytes = 0
    for (let i = from; i < to; i++) {
      const row = list[i]!
      const page = this.#pages[Math.floor(row / this.#rowsPerPage)]
      if (page === undefined || page.stale) continue
      const wasLent = page.isLent
      page.stale = !this.#patchRow(page, rows, row)
      if (wasLent && !page.isLent) copiedBytes += page.bytes
      if (copiedBytes >= STEP_BYTES) return i + 1
    }
    return to
  }

  /** Whether a page has to be laid out anew. */
  isStale(pageIndex: number): boolean {
    return this.#pages[pageIndex]?.stale === true
  }

  /** Lays a page out anew, a step at a time. */
  *settle(rows: Rows, pageIndex: number, rowCount: number): Generator<void> {
    const page = this.#pages[pageIndex]
    if (page === undefined) return
    const from = pageIndex * this.#rowsPerPage
    const to = Math.min(from + this.#rowsPerPage, rowCount)
    const bytes = page.resize(this.#measure(page, rows, from, to))
    page.stale = false
    page.stale = false
    let at = 0
    let yieldedAt = 0
    for (let row = from; row < to; row++) {
      at = this.#layRow(page, bytes, rows, row, at)
      if (at - yieldedAt < STEP_BYTES) continue
      yieldedAt = at
      yield
    }
    yield
  }

  /** The bytes of all pages, as they are now. */
  lend(): Lent[] {
    return this.#pages.map((page) => page.lend())
  }

  /** False if the page has to be laid out anew. */
  #patchRow(page: Page, rows: Rows, row: number): boolean {
    const { length } = this.#lanes
    const present = this.#loadRow(rows, row)
    for (let lane = 0, note = row * length * NOTE_WORDS; lane < length; lane++, note += NOTE_WORDS) {
      const place = this.#notes[note]!
      if ((place === 0) !== lane >= present) return false
      if (place === 0) continue
      const low = this.#low[lane]!
      const high = this.#high[lane]!
      if (low === this.#notes[note + LOW] && high === this.#notes[note + HIGH]) continue
      if (this.#lanes[lane]!.numbers === 'float' && (isSpecial(high) || isSpecial(this.#notes[note + HIGH]!)))
        return false
      if (!writeValue(this.#lanes[lane]!, page.writable(), place, page.width, high, low)) return false
      this.#notes[note + LOW] = low
      this.#notes[note + HIGH] = high
    }
    return this.#time === 'none' || this.#patchTime(page, timeOf(rows, row), row)
  }

  #patchTime(page: Page, timeMs: number, row: number): boolean {
    const shown = this.#shownMs[row]!
    if (timeMs === shown) return true
    if (timeMs === 0 || shown === 0) return false
    const bytes = page.writable()
    const { length } = this.#lanes
    for (let lane = 0, note = row * length * NOTE_WORDS; lane < length; lane++, note += NOTE_WORDS) {
      const place = this.#notes[note]!
      if (place !== 0) this.#writeTime(bytes, place + this.#room(page, note, lane), timeMs)
    }
    this.#shownMs[row] = timeMs
    return true
  }

  /** Loads the row and returns the lanes it has; notes in passing what the text is going to show. */
  #loadRow(rows: Rows, row: number): number {
    if (rows.visible[row] === 0 || (row < this.hidden.length && this.hidden[row] === 1)) return 0
    return this.#load(rows.data, row * rows.strideBytes, this.#low, this.#high)
  }

  /** Notes the values of the rows, widens the page for the widest and returns the bytes it takes. */
  #measure(page: Page, rows: Rows, from: number, to: number): number {
    const { length } = this.#lanes
    let fixed = 0
    let numbers = 0
    page.lines = 0
    for (let row = from; row < to; row++) {
      const present = this.#loadRow(rows, row)
      const timeMs = this.#noteTime(rows, row)
      const labelBytes = rows.labels[row]?.length ?? 0
      for (let lane = 0, note = row * length * NOTE_WORDS; lane < length; lane++, note += NOTE_WORDS) {
        this.#notes[note] = lane < present ? 1 : 0
        if (lane >= present) continue
        const low = this.#low[lane]!
        const high = this.#high[lane]!
        this.#notes[note + LOW] = low
        this.#notes[note + HIGH] = high
        const { open, close, bare } = this.#texts[lane]!
        fixed += labelBytes === 0 ? bare.length : open.length + labelBytes + close.length
        fixed += 1 + (timeMs === 0 ? 0 : TIME_WIDTH[this.#time])
        page.lines++
        const special = specialWidth(this.#lanes[lane]!, high, low)
        fixed += special
        if (special > 0) continue
        numbers++
        const width = widthOf(this.#lanes[lane]!, high, low)
        if (width > this.#width) this.#width = width
      }
    }
    page.width = this.#width
    return fixed + numbers * page.width
  }

  #noteTime(rows: Rows, row: number): number {
    if (this.#time === 'none') return 0
    const timeMs = timeOf(rows, row)
    this.#shownMs[row] = timeMs
    return timeMs
  }

  /** Writes the lines of a row from the values that `#measure` noted. */
  #layRow(page: Page, bytes: Buffer, rows: Rows, row: number, start: number): number {
    const { length } = this.#lanes
    const labels = rows.labels[row]
    const timeMs = this.#time === 'none' ? 0 : this.#shownMs[row]!
    let at = start
    for (let lane = 0, note = row * length * NOTE_WORDS; lane < length; lane++, note += NOTE_WORDS) {
      if (this.#notes[note] === 0) continue
      const text = this.#texts[lane]!
      if (labels === undefined || labels.length === 0) {
        at = append(bytes, at, text.bare)
      } else {
        at = append(bytes, at, text.open)
        at = append(bytes, at, labels)
        at = append(bytes, at, text.close)
      }
      this.#notes[note] = at
      const room = this.#room(page, note, lane)
      this.#writeValue(bytes, at, room, note, lane)
      at += room
      if (timeMs !== 0) at = this.#writeTime(bytes, at, timeMs)
      bytes[at++] = 10
    }
    return at
  }

  #writeValue(bytes: Buffer, at: number, room: number, note: number, lane: number): void {
    const low = this.#notes[note + LOW]!
    const high = this.#notes[note + HIGH]!
    if (this.#lanes[lane]!.numbers === 'float' && isSpecial(high))
      bytes.write(specialText(doubleOf(high, low)), at, 'latin1')
    else writeValue(this.#lanes[lane]!, bytes, at, room, high, low)
  }

  /** Characters of the value of a line. */
  #room(page: Page, note: number, lane: number): number {
    return specialWidth(this.#lanes[lane]!, this.#notes[note + HIGH]!, this.#notes[note + LOW]!) || page.width
  }

  #writeTime(bytes: Uint8Array, start: number, timeMs: number): number {
    let at = start
    bytes[at++] = 32
    const seconds = Math.floor(timeMs / 1000)
    writeUnsigned(bytes, at, 10, Math.floor(seconds / 4294967296), seconds >>> 0)
    at += 10
    if (this.#time === 'seconds') bytes[at++] = 46
    writeDigits(bytes, at, at + 3, Math.floor(timeMs) - seconds * 1000)
    return at + 3
  }
}

function lineText({ sample, label }: Lane): LineText {
  return {
    open: Buffer.from(`${sample}{`),
    close: Buffer.from(label === '' ? '} ' : `,${label}} `),
    bare: Buffer.from(label === '' ? `${sample} ` : `${sample}{${label}} `),
  }
}

/** The time of a row, 0 if it has none that a line could carry. */
function timeOf(rows: Rows, row: number): number {
  const timeMs = rows.timesMs[row] ?? 0
  return timeMs > 0 && timeMs < TIME_LIMIT_MS ? timeMs : 0
}

function append(bytes: Buffer, at: number, part: Uint8Array): number {
  bytes.set(part, at)
  return at + part.length
}

function grown<T extends Uint32Array | Float64Array>(from: T, into: T): T {
  into.set(from)
  return into
}

/** Whether the high word is that of NaN or an infinity. */
function isSpecial(high: number): boolean {
  return (high & 0x7ff00000) === 0x7ff00000
}

function doubleOf(high: number, low: number): number {
  floatWords[0] = low
  floatWords[1] = high
  return float[0]!
}

/** Characters of NaN or an infinity, 0 for a number. */
function specialWidth(lane: Lane, high: number, low: number): number {
  return lane.numbers === 'float' && isSpecial(high) ? specialText(doubleOf(high, low)).length : 0
}

function widthOf(lane: Lane, high: number, low: number): number {
  if (lane.numbers === 'float') return finiteWidth(doubleOf(high, low))
  return lane.numbers === 'signed' ? signedWidth(high, low) : digitsOf(high, low)
}

function writeValue(lane: Lane, bytes: Uint8Array, at: number, width: number, high: number, low: number): boolean {
  if (lane.numbers === 'float') return writeFinite(bytes, at, width, doubleOf(high, low))
  return lane.numbers === 'signed'
    ? writeSigned(bytes, at, width, high, low)
    : writeUnsigned(bytes, at, width, high, low)
}
