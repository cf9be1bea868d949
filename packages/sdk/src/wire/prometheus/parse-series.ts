import { keyOfText } from '../../internal/seeded-hash.ts'
import { type Labels, seriesKey } from '../../schema/series.ts'
import type { ParseFault } from './parse-faults.ts'
import type { ReadLabels } from './parse-labels.ts'

/** A series of a scrape. */
export interface ScrapedSeries {
  /** Name of the metric. */
  readonly name: string
  /** Its labels by name, in the order of the alphabet; those without a value are left out. */
  readonly labels: Labels
}

/** Parsed labels with their lookup key. */
export interface LabelSet {
  /** Name of the metric, where it stands among the labels. */
  readonly name: string
  readonly labels: Labels
  /** The labels as a text: equal for equal labels. */
  readonly key: string
}

/** A series without labels. */
export const NO_LABELS: LabelSet = { name: '', labels: {}, key: '' }

/** Number of unused texts that cause a rebuild of the table. */
const STALE_MIN = 4096
const LONG_CHARACTERS = 16_000
const ARENA_BYTES_MIN = 64 << 10

/**
 * The series that lines were seen to have, each with a number from 0, by the text of their names and labels. Two texts
 * of the same labels are one series. A body mostly has the series of the one before it in the same order: then a line
 * costs one comparison of bytes.
 */
export class SeriesNumbers {
  /** The series by number. */
  readonly series: ScrapedSeries[] = []
  /** Rises when the numbers of series are assigned again. */
  epoch = 0
  readonly #seriesMax: number
  readonly #arenaMax: number
  /** Texts by what they read, and series by their labels. */
  readonly #texts = new Map<string, number>()
  readonly #numbers = new Map<string, number>()
  /** Labels of the body in hand, by their texts. */
  readonly #labelSets = new Map<string, LabelSet>()
  #arena = Buffer.allocUnsafeSlow(ARENA_BYTES_MIN)
  #arenaBytes = 0
  /** Of each text: where it stands in the arena, the number of its series, and its place in the last body. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  readonly #seriesOf: number[] = []
  readonly #places: number[] = []
  /** The texts of the last body in their order, and those of the body in hand. */
  #order: number[] = []
  #next: number[] = []
  #cursor = 0
  #isFull = false

  constructor(seriesMax: number, bodyBytes: number) {
    this.#seriesMax = seriesMax
    this.#arenaMax = 2 * bodyBytes
  }

  /** Starts a body. If most known series are gone, all are forgotten. */
  begin(): void {
    this.#cursor = 0
    this.#next = []
    const live = this.#order.length
    const stale = Math.max(this.#starts.length, this.series.length) - live
    if (stale > Math.max(STALE_MIN, live) || (this.#isFull && stale > 0)) this.#forget()
  }

  /** The body has ended. */
  finish(): void {
    this.#labelSets.clear()
    this.#order = this.#next
    for (let place = 0; place < this.#order.length; place++) this.#places[this.#order[place] as number] = place
  }

  /** The text that the line at `at` begins with, where it is the one that came next in the last body; else -1. */
  expected(bytes: Buffer, at: number): number {
    if (this.#cursor >= this.#order.length) return -1
    const text = this.#order[this.#cursor] as number
    const start = this.#starts[text] as number
    const end = this.#ends[text] as number
    const to = at + end - start
    if (to >= bytes.length || bytes[to - 1] !== this.#arena[end - 1]) return -1
    return bytes.compare(this.#arena, start, end, at, to) === 0 ? text : -1
  }

  /** Bytes of a text. */
  lengthOf(text: number): number {
    return (this.#ends[text] as number) - (this.#starts[text] as number)
  }

  /** The text was {@link expected}, and a line is made of it: the next line is expected to follow. */
  follow(text: number): number {
    this.#cursor++
    this.#next.push(text)
    return this.#seriesOf[text] as number
  }

  /** The series of a text that any body had, by its key; -1 where none did. */
  known(key: string): number {
    const text = this.#texts.get(key)
    if (text === undefined) return -1
    const place = this.#places[text] as number
    if (this.#order[place] === text) this.#cursor = place + 1
    this.#next.push(text)
    return this.#seriesOf[text] as number
  }

  /** Labels as `read` reads them: many metrics of a body have the same ones, which are read and kept once. */
  labelSet(text: string, read: (text: string) => ReadLabels | ParseFault): LabelSet | ParseFault {
    // V8 hashes longer texts by their length alone.
    const kept = text.length < LONG_CHARACTERS ? text : keyOfText(text)
    const found = this.#labelSets.get(kept)
    if (found !== undefined) return found
    const answer = read(text)
    if (typeof answer === 'string') return answer
    const labels = Object.fromEntries(answer.labels.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const set = { name: answer.name, labels, key: keyOfText(seriesKey(labels)) }
    this.#labelSets.set(kept, set)
    return set
  }

  /** The number of a series; -1 where there is no room for one more. */
  numberOf(name: string, { labels, key: labelKey }: LabelSet): number {
    const key = keyOfText(`${name}{${labelKey}`)
    const found = this.#numbers.get(key)
    if (found !== undefined) return found
    if (this.series.length >= this.#seriesMax) {
      this.#isFull = true
      return -1
    }
    const number = this.series.length
    this.series.push({ name, labels })
    this.#numbers.set(key, number)
    return number
  }

  /** Keeps the text of a series for the next body by its key, as long as there is room. */
  keep(key: string, number: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start
    if (this.#starts.length >= this.#seriesMax || !this.#reserve(length)) {
      this.#isFull = true
      return
    }
    const text = this.#starts.length
    bytes.copy(this.#arena, this.#arenaBytes, start, end)
    this.#texts.set(key, text)
    this.#starts.push(this.#arenaBytes)
    this.#ends.push(this.#arenaBytes + length)
    this.#seriesOf.push(number)
    this.#places.push(-1)
    this.#arenaBytes += length
    this.#next.push(text)
  }

  #reserve(length: number): boolean {
    const needed = this.#arenaBytes + length
    if (needed <= this.#arena.length) return true
    if (needed > this.#arenaMax) return false
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#arenaMax, Math.max(needed, 2 * this.#arena.length)))
    this.#arena.copy(grown, 0, 0, this.#arenaBytes)
    this.#arena = grown
    return true
  }

  #forget(): void {
    this.epoch++
    this.#isFull = false
    this.#arena = Buffer.allocUnsafeSlow(ARENA_BYTES_MIN)
    this.#arenaBytes = 0
    this.#texts.clear()
    this.#numbers.clear()
    this.#order = []
    for (const list of [this.series, this.#starts, this.#ends, this.#seriesOf, this.#places]) list.length = 0
  }
}
