import type { RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { rawAt } from '../read/raw-at.ts'
import { isCounterSlot } from './slot-role.ts'

/** Numbers for each signal. */
const WIDTH = 9
const [LAST, USUAL_LOW, USUAL_HIGH, USUAL_SUM, USUAL_COUNT, LATER_LOW, LATER_HIGH, LATER_SUM, LATER_COUNT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
] as const
/** Least movement relative to the level, and to the usual range. */
const LEVEL_SHARE = 0.05
const SPREAD_SHARE = 0.5
/** Lowest digit of a moved signal, and the highest digit. */
const MOVED = 2
const DIGIT_MAX = 9

/**
 * How far the signals of one series move in an event. It compares values, or increases per second of counters, from the
 * beginning of the window with later ones. The cost is a few additions for each signal and record.
 */
export class SignalMoves {
  readonly #type: RecordType
  /** Slots that may be signals. */
  readonly #slots: readonly { readonly slot: Slot; readonly isCounter: boolean }[]
  readonly #data: Float64Array
  #lastNs = Number.NaN

  constructor(type: RecordType) {
    this.#type = type
    const slots = type.layout.slots.filter(({ field: { role, count, kind } }) => {
      return count === 1 && kind !== 'symbol' && kind !== 'char' && ['counter', 'gauge', 'value'].includes(role)
    })
    this.#slots = slots.map((slot) => ({ slot, isCounter: isCounterSlot(slot) }))
    this.#data = new Float64Array(this.#slots.length * WIDTH)
    for (let at = 0; at < this.#data.length; at += WIDTH) {
      this.#data[at + LAST] = Number.NaN
      for (const low of [USUAL_LOW, LATER_LOW]) this.#data[at + low] = Number.POSITIVE_INFINITY
      for (const high of [USUAL_HIGH, LATER_HIGH]) this.#data[at + high] = Number.NEGATIVE_INFINITY
    }
  }

  /** Takes a record. `ns` is its time from any zero. */
  take(view: DataView, record: number, ns: number, isUsual: boolean): void {
    const data = this.#data
    const { presenceWords } = this.#type.layout
    const seconds = (ns - this.#lastNs) / 1e9
    this.#lastNs = ns
    const first = isUsual ? USUAL_LOW : LATER_LOW
    let at = 0
    for (const { slot, isCounter } of this.#slots) {
      const to = at + first
      const last = at + LAST
      at += WIDTH
      const word = presenceWords === 0 ? -1 : view.getUint32(record + (slot.index >> 5) * 4, true)
      if (((word >>> (slot.index & 31)) & 1) === 0) {
        data[last] = Number.NaN
        continue
      }
      let value = rawAt(slot, view, record)
      if (isCounter) {
        const step = value - (data[last] as number)
        data[last] = value
        if (!(step >= 0) || !(seconds > 0)) continue
        value = step / seconds
      }
      if (Number.isNaN(value)) continue
      if (value < (data[to] as number)) data[to] = value
      if (value > (data[to + 1] as number)) data[to + 1] = value
      data[to + 2] = (data[to + 2] as number) + value
      data[to + 3] = (data[to + 3] as number) + 1
    }
  }

  /** A digit for each slot of the type: 0 for no movement, 1 for the usual movement, 2 and more for the distance. */
  told(): string {
    const digits = new Uint8Array(this.#type.layout.slots.length)
    for (const [index, { slot }] of this.#slots.entries())
      digits[slot.index] = moveDigit(this.#data.subarray(index * WIDTH, (index + 1) * WIDTH))
    return digits.join('')
  }
}

function moveDigit(data: Float64Array): number {
  const at = (index: number) => data[index] as number
  const low = Math.min(at(USUAL_LOW), at(LATER_LOW))
  const high = Math.max(at(USUAL_HIGH), at(LATER_HIGH))
  if (!(high > low)) return 0
  if (at(USUAL_COUNT) === 0 || at(LATER_COUNT) === 0) return 1
  const usual = at(USUAL_SUM) / at(USUAL_COUNT)
  const later = at(LATER_SUM) / at(LATER_COUNT)
  const beyond = Math.max(at(LATER_HIGH) - at(USUAL_HIGH), at(USUAL_LOW) - at(LATER_LOW), 0)
  const move = Math.max(beyond, Math.abs(later - usual))
  const spread = at(USUAL_HIGH) - at(USUAL_LOW)
  const level = Math.max(Math.abs(usual), Math.abs(later))
  const times = move / (SPREAD_SHARE * spread + LEVEL_SHARE * level)
  return times < 1 ? 1 : Math.min(DIGIT_MAX, MOVED + Math.floor(Math.log2(times)))
}
