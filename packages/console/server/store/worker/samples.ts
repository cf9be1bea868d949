import { type Labels, numberAt, type Views } from '@sonde/sdk'
import type { Column, Slot } from '@sonde/sdk/internal'
import { hasColumnValue, type WordColumn } from '../codec/column.ts'
import type { Arena } from './arena.ts'

const NOTHING = new Float64Array(0)

/** The kind of gathered samples: plain numbers or words, with this many elements. */
interface Content {
  readonly form: 'numbers' | 'words'
  readonly elements: number
}

/**
 * Gathers the samples of one field of one series from pieces of the file, and returns columns for queries: one, or for
 * a histogram one for each bin.
 */
export class Samples {
  readonly labels: Labels
  /** Period of the source that wrote the last piece. Unit: milliseconds; 0 if it has none. */
  intervalMs = 0
  /** Id of that source; -1 before the first. */
  source = -1
  readonly #expectedCount: number
  readonly #arena: Arena
  #times: Float64Array = NOTHING
  /** For each element plain values, or low and high words if every version of the field is a u64. */
  #elements: (Float64Array | Uint32Array)[]
  #count = 0

  /** @param expectedCount Number of samples for the initial memory. */
  constructor(labels: Labels, { form, elements }: Content, expectedCount: number, arena: Arena) {
    this.labels = labels
    this.#expectedCount = expectedCount
    this.#arena = arena
    this.#elements = Array.from({ length: elements }, () => (form === 'words' ? wordsOver(NOTHING) : NOTHING))
  }

  get count(): number {
    return this.#count
  }

  /** Appends samples `from` up to `to` of a stored column. */
  appendColumn(times: Float64Array, column: WordColumn, from: number, to: number): void {
    this.#reserve(to - from)
    if (column.present !== null) {
      this.#appendPresent(times, column, from, to)
      return
    }
    this.#times.set(times.subarray(from, to), this.#count)
    for (const [index, values] of this.#elements.entries()) {
      const element = elementOf(column, index)
      if (values instanceof Uint32Array) values.set(element.words.subarray(2 * from, 2 * to), 2 * this.#count)
      else values.set(columnNumbers(element).subarray(from, to), this.#count)
    }
    this.#count += to - from
  }

  /** Appends the field of the record at `offset`, which must have it; `slots` are the places of its elements. */
  appendRecord(timeMs: number, slots: readonly Slot[], views: Views, offset: number): void {
    this.#reserve(1)
    const at = this.#count++
    this.#times[at] = timeMs
    for (const [index, slot] of slots.entries()) {
      const values = this.#elements[index]
      if (values instanceof Uint32Array) {
        values[2 * at] = views.data.getUint32(offset + slot.offset, true)
        values[2 * at + 1] = views.data.getUint32(offset + slot.offset + 4, true)
      } else if (values !== undefined) {
        values[at] = numberAt(slot, views, offset)
      }
    }
  }

  /** The gathered samples in time order: a column for each element. */
  take(): Column[] {
    this.#sort()
    const { labels, intervalMs } = this
    const times = this.#times.subarray(0, this.#count)
    return this.#elements.map((values) => ({
      labels,
      intervalMs,
      times,
      values:
        values instanceof Uint32Array
          ? { words: values.subarray(0, 2 * this.#count) }
          : { numbers: values.subarray(0, this.#count) },
    }))
  }

  #appendPresent(times: Float64Array, column: WordColumn, from: number, to: number): void {
    const start = this.#count
    for (let i = from; i < to; i++) if (hasColumnValue(column.present, i)) this.#times[this.#count++] = times[i] ?? 0
    for (const [index, values] of this.#elements.entries()) {
      const element = elementOf(column, index)
      const { words } = element
      const numbers = values instanceof Uint32Array ? undefined : columnNumbers(element)
      for (let i = from, at = start; i < to; i++) {
        if (!hasColumnValue(column.present, i)) continue
        if (numbers === undefined) {
          values[2 * at] = words[2 * i] ?? 0
          values[2 * at + 1] = words[2 * i + 1] ?? 0
        } else {
          values[at] = numbers[i] ?? 0
        }
        at++
      }
    }
  }

  #reserve(more: number): void {
    const needed = this.#count + more
    if (needed <= this.#times.length) return
    const capacity = Math.max(needed, 2 * this.#times.length, this.#expectedCount + 64)
    const times = this.#arena.take(capacity)
    times.set(this.#times)
    this.#times = times
    this.#elements = this.#elements.map((before) => {
      const memory = this.#arena.take(capacity)
      const values = before instanceof Uint32Array ? wordsOver(memory) : memory
      values.set(before)
      return values
    })
  }

  /** Sorts by time. Pieces nearly always come in order, except when two writers overlap or records came late. */
  #sort(): void {
    const times = this.#times
    let i = 1
    while (i < this.#count && (times[i] ?? 0) >= (times[i - 1] ?? 0)) i++
    if (i >= this.#count) return
    const order = Uint32Array.from({ length: this.#count }, (_, at) => at)
    order.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b)
    this.#times = Float64Array.from(order, (at) => times[at] ?? 0)
    this.#elements = this.#elements.map((values) =>
      values instanceof Uint32Array
        ? Uint32Array.from({ length: 2 * order.length }, (_, at) => values[2 * (order[at >> 1] ?? 0) + (at & 1)] ?? 0)
        : Float64Array.from(order, (at) => values[at] ?? 0),
    )
  }
}

/** One element of a column as a separate column. */
function elementOf(column: WordColumn, element: number): WordColumn {
  const { words, count } = column
  return { ...column, elements: 1, words: words.subarray(2 * count * element, 2 * count * (element + 1)) }
}

/** The same memory as low and high words. */
function wordsOver(memory: Float64Array): Uint32Array {
  return new Uint32Array(memory.buffer, memory.byteOffset, 2 * memory.length)
}

/** A column of one element as plain numbers: exact up to 2^53, the nearest double beyond. */
function columnNumbers({ kind, words, count }: WordColumn): Float64Array {
  if (kind === 'f64') return new Float64Array(words.buffer, words.byteOffset, count)
  const numbers = new Float64Array(count)
  if (kind === 'f32') {
    const narrow = new Float32Array(words.buffer, words.byteOffset, 2 * count)
    for (let i = 0; i < count; i++) numbers[i] = narrow[2 * i] ?? 0
    return numbers
  }
  const isSigned = kind[0] === 'i'
  for (let i = 0; i < count; i++) {
    const high = words[2 * i + 1] ?? 0
    numbers[i] = (isSigned ? high | 0 : high) * 4294967296 + (words[2 * i] ?? 0)
  }
  return numbers
}
