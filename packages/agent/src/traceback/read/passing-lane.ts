import type { Layout } from '@sonde/sdk/internal'
import type { BlockSamples } from './passing-series.ts'
import { rawAt } from './raw-at.ts'
import type { LaneSignal } from './signals.ts'

const WORD = 2 ** 32
/** A 32-bit counter wrapped if it falls from above the first limit to below the second. */
const WRAP_FROM = 3 * 2 ** 30
const WRAP_TO = 2 ** 30

/**
 * One lane while its samples are read: the lowest and highest value of each part, and the exact samples if there are
 * few.
 */
export class PassingLane {
  readonly signal: LaneSignal
  readonly lows: Float32Array
  readonly highs: Float32Array
  readonly exact: Float64Array
  /** The previous value, as two words for a u64; NaN if there is none. */
  #before = Number.NaN
  #beforeHigh = 0

  constructor(signal: LaneSignal, points: number) {
    this.signal = signal
    this.lows = new Float32Array(points).fill(Number.NaN)
    this.highs = new Float32Array(points).fill(Number.NaN)
    this.exact = new Float64Array(points + 2)
  }

  /** Takes samples of a block. */
  take(layout: Layout, data: DataView, places: BlockSamples): void {
    const { slot, role } = this.signal
    const { lows, highs, exact } = this
    const { count, at, point, held, stepMs } = places
    const isCounter = role === 'counter'
    const isWide = isCounter && slot.field.kind === 'u64'
    const presence = layout.presenceWords === 0 ? -1 : (slot.index >> 5) * 4
    const bit = slot.index & 31
    for (let index = 0; index < count; index++) {
      const record = at[index] as number
      const isThere = presence < 0 || ((data.getUint32(record + presence, true) >>> bit) & 1) === 1
      const ms = stepMs[index] as number
      let value = Number.NaN
      if (!isThere) this.#before = Number.NaN
      else if (isWide) value = this.#wideRate(data, record + slot.offset, ms)
      else if (isCounter) value = this.#rate(rawAt(slot, data, record), ms)
      else value = rawAt(slot, data, record)
      const place = held[index] as number
      if (place >= 0) exact[place] = value
      const to = point[index] as number
      // NaN compares as false, so the first value of a part replaces it.
      if (to < 0 || Number.isNaN(value)) continue
      if (!((lows[to] as number) <= value)) lows[to] = value
      if (!((highs[to] as number) >= value)) highs[to] = value
    }
  }

  /** Increase per second of a u64. Its words are exact where doubles are not. */
  #wideRate(data: DataView, at: number, stepMs: number): number {
    const low = data.getUint32(at, true)
    const high = data.getUint32(at + 4, true)
    let increase = (high - this.#beforeHigh) * WORD + (low - this.#before)
    if (increase < 0) increase = high === 0 && this.#beforeHigh === 0 ? wrapped(this.#before, low) : Number.NaN
    this.#before = low
    this.#beforeHigh = high
    return (increase * 1000) / stepMs
  }

  #rate(value: number, stepMs: number): number {
    let increase = value - this.#before
    if (increase < 0) increase = wrapped(this.#before, value)
    this.#before = value
    return (increase * 1000) / stepMs
  }
}

/** The increase of a 32-bit counter that wrapped; NaN if it was reset. */
function wrapped(before: number, value: number): number {
  return before >= WRAP_FROM && before < WORD && value < WRAP_TO ? value + WORD - before : Number.NaN
}
