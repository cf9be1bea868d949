import { type ColumnValues, PRESENT, type Temporality } from '../../wire/otlp/points.ts'
import type { NumberClass } from '../../wire/prometheus/lanes.ts'
import type { LoadedColumn, TypeMetrics } from './type-metrics.ts'

/** What all series of a type from a source have. */
export interface SeriesOrigin {
  readonly metrics: TypeMetrics
  readonly resource: Uint8Array
  readonly scope: Uint8Array
  /** Text of the source, and name of the type. */
  readonly owner: string
  readonly type: string
  /** The identity of a series by its labels, as `seriesKey` writes them. */
  keyOf(labels: string): string
}

/** The attributes of a series, and its last values that only rise with the starts of their intervals. */
export class SeriesState {
  /** Encoded as fields of a point, and of a histogram's point if the type has a histogram. */
  readonly attributes: Uint8Array
  readonly histogramAttributes: Uint8Array
  readonly origin: SeriesOrigin
  /** Its identity in any process and file. */
  readonly key: string
  /** Whether it is forgotten: a later record begins a series anew. */
  hasEnded = false
  /** When it last had a record. Unit: milliseconds, of a clock that only rises. */
  seenMs = 0
  /** Time of its last record in two words. Unit: nanoseconds since the Unix epoch. */
  timeLow = 0
  timeHigh = 0
  /** By column: 1 if its last record had a value. */
  readonly #live: Uint8Array
  readonly #low: Uint32Array
  readonly #high: Uint32Array
  /** By column, in two words: the start, and the time of the last value. Both are 0 if there was no value. */
  readonly #starts: Uint32Array
  readonly #lasts: Uint32Array

  constructor(origin: SeriesOrigin, key: string, attributes: Uint8Array, histogramAttributes: Uint8Array) {
    const { cellCount, columns } = origin.metrics
    this.origin = origin
    this.key = key
    this.#live = new Uint8Array(columns.length)
    this.attributes = attributes
    this.histogramAttributes = histogramAttributes
    const words = cellCount > 0 ? columns.length * 2 : 0
    this.#low = new Uint32Array(cellCount)
    this.#high = new Uint32Array(cellCount)
    this.#starts = new Uint32Array(words)
    this.#lasts = new Uint32Array(words)
  }

  /**
   * Takes the values of a record in a column, and sets the start of its point. With `delta` the values become
   * differences from the record before.
   *
   * The first value starts at its own time, because nobody knows when the counter was 0; it has no difference. After a
   * smaller value, which is a restart of the device, the interval starts at the record before, and the difference is
   * the value itself. If the clock was set back, the series starts anew.
   *
   * @param index Index of the column among those of the type.
   * @returns whether the record has a point, a {@link PRESENT}.
   */
  take(
    index: number,
    column: LoadedColumn,
    { low, high, starts }: ColumnValues,
    record: number,
    times: Uint32Array,
    temporality: Temporality,
  ): number {
    this.#live[index] = 1
    if (starts === undefined) return PRESENT.value
    const [timeLow, timeHigh] = [times[record * 2]!, times[record * 2 + 1]!]
    const at = index * 2
    const [lastLow, lastHigh] = [this.#lasts[at]!, this.#lasts[at + 1]!]
    const isLater = timeHigh > lastHigh || (timeHigh === lastHigh && timeLow > lastLow)
    const isFirst = !isLater || (lastLow === 0 && lastHigh === 0)
    const isReset = isFirst || this.#isBelow(column, low, high, record)
    const isDelta = temporality === 'delta'
    if (isFirst) {
      this.#starts[at] = timeLow
      this.#starts[at + 1] = timeHigh
    } else if (isDelta || isReset) {
      this.#starts[at] = lastLow
      this.#starts[at + 1] = lastHigh
    }
    this.#lasts[at] = timeLow
    this.#lasts[at + 1] = timeHigh
    starts[record * 2] = this.#starts[at]!
    starts[record * 2 + 1] = this.#starts[at + 1]!
    this.#store(column, low, high, record, isDelta && !isReset)
    return isDelta && isFirst ? PRESENT.no : PRESENT.value
  }

  /** A record, or none any more, has no value in a column. A value that was there has ended, which a point says. */
  end(index: number, { starts }: ColumnValues, record: number): number {
    if (this.#live[index] === 0) return PRESENT.no
    this.#live[index] = 0
    if (starts !== undefined) {
      starts[record * 2] = this.#starts[index * 2]!
      starts[record * 2 + 1] = this.#starts[index * 2 + 1]!
    }
    return PRESENT.ended
  }

  /** Whether a value is less than before. */
  #isBelow({ cell, width, numbers, sum, edges }: LoadedColumn, low: Uint32Array, high: Uint32Array, record: number) {
    for (let i = 0, at = record * width; i < width; i++, at++) {
      const kind = sum !== undefined && i > edges.length ? sum : numbers
      if (isLess(kind, low[at]!, high[at]!, this.#low[cell + i]!, this.#high[cell + i]!)) return true
    }
    return false
  }

  /** Keeps the values; with `isDifference` their differences from the values before take their place. */
  #store(
    { cell, width, numbers, sum, edges }: LoadedColumn,
    low: Uint32Array,
    high: Uint32Array,
    record: number,
    isDifference: boolean,
  ): void {
    for (let i = 0, at = record * width; i < width; i++, at++) {
      const [newLow, newHigh] = [low[at]!, high[at]!]
      if (isDifference) {
        const kind = sum !== undefined && i > edges.length ? sum : numbers
        const [oldLow, oldHigh] = [this.#low[cell + i]!, this.#high[cell + i]!]
        if (kind === 'float') {
          pair[0] = floatOf(newLow, newHigh) - floatOf(oldLow, oldHigh)
          low[at] = words[0]!
          high[at] = words[1]!
        } else {
          low[at] = newLow - oldLow
          high[at] = newHigh - oldHigh - (newLow < oldLow ? 1 : 0)
        }
      }
      this.#low[cell + i] = newLow
      this.#high[cell + i] = newHigh
    }
  }
}

const pair = new Float64Array(1)
const words = new Uint32Array(pair.buffer)

function floatOf(low: number, high: number): number {
  words[0] = low
  words[1] = high
  return pair[0]!
}

function isLess(kind: NumberClass, low: number, high: number, oldLow: number, oldHigh: number): boolean {
  if (kind === 'float') return floatOf(low, high) < floatOf(oldLow, oldHigh)
  if (high === oldHigh) return low < oldLow
  return kind === 'signed' ? (high | 0) < (oldHigh | 0) : high < oldHigh
}
