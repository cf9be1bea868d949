import { maxKnown } from '../look/numbers.ts'
import { Past } from './past.ts'
import type { Signal } from './signal.ts'

/** Samples that are kept; the oldest leave first. At a sample a second: two minutes. */
const SAMPLE_COUNT = 128
/**
 * Closer samples are passed over: a counter loses nothing by it, and a rule looks twice a second. Unit: milliseconds.
 */
export const APART_MS = 450
/** How many samples later one is of the past. */
const PAST_LAG = 4
/** A sample is the newest for this many periods. */
const FRESH_PERIODS = 3.5
const FRESH_MIN_MS = 3500
/** Samples of two series are of the same moment up to this many periods apart: a missed one is a whole period. */
const MOMENT_PERIODS = 0.75
/** Gaps of which the shortest is the period: samples may be missed between others. */
const GAPS = 4

/**
 * The last samples of one signal of one series. A counter is kept as what it gained since the window began; where that
 * cannot be known, as after a reset, a long pause or a step of the clock, the window begins anew.
 */
export class Window {
  readonly #signal: Signal
  readonly #times = new Float64Array(SAMPLE_COUNT)
  readonly #values = new Float64Array(SAMPLE_COUNT)
  /** Mean or events of the last 10 minutes, where the signal keeps them. */
  readonly past: Past | undefined
  #count = 0
  #end = 0
  #raw = 0
  #periodMs = 0
  /** When the counter last rose. Unit: milliseconds since the Unix epoch; −∞ where it never did. */
  roseMs = Number.NEGATIVE_INFINITY
  /** What the counter had counted when its series was first seen; 0 if it began while it was watched. */
  before = 0
  #isNew = true
  /** When the window last began anew, but for its first sample. */
  brokeMs = Number.NEGATIVE_INFINITY

  constructor(signal: Signal) {
    this.#signal = signal
    this.past = signal.past === undefined ? undefined : new Past()
  }

  /** Time of the newest sample; NaN before the first. */
  get newestMs(): number {
    return this.#count === 0 ? Number.NaN : this.#timeAt(0)
  }

  /** Whether the newest sample is still that: nothing was missed for long, and no clock was set back since. */
  isFresh(nowMs: number): boolean {
    return (
      this.#count > 0 && Math.abs(nowMs - this.#timeAt(0)) <= Math.max(FRESH_MIN_MS, this.#periodMs * FRESH_PERIODS)
    )
  }

  /** Begins with a counter at 0: its series appeared because it counted for the first time. */
  beginAtZero(timeMs: number): void {
    this.#raw = 0
    this.#isNew = false
    this.#append(timeMs - 1000, 0)
  }

  /** Takes a sample. A frozen mean of the past stays as it is. */
  push(timeMs: number, raw: number, isFrozen: boolean): void {
    if (!Number.isFinite(raw)) return
    const apartMs = this.#count === 0 ? Number.NaN : timeMs - this.#timeAt(0)
    if (apartMs > 0 && apartMs < APART_MS) return
    if (apartMs <= 0 || apartMs > Math.max(this.#signal.pauseMs, this.#periodMs * 10)) this.#restart(timeMs)
    if (this.#signal.reads === 'gauge') this.#pushValue(timeMs, raw, isFrozen)
    else this.#pushTotal(timeMs, raw, apartMs, isFrozen)
  }

  /** Time between two samples, without those that were missed. Unit: milliseconds; NaN before the second. */
  get periodMs(): number {
    let periodMs = Number.NaN
    for (let back = 0; back < Math.min(GAPS, this.#count - 1); back++) {
      const gapMs = this.#timeAt(back) - this.#timeAt(back + 1)
      if (!(periodMs <= gapMs)) periodMs = gapMs
    }
    return periodMs
  }

  // Where a method takes `as`, it reads the samples of the moments at which that window has its own: what two devices
  // do is compared at the same moments, or not at all. NaN if a sample of such a moment is missing.

  /** The newest value of a gauge. */
  last(as: Window = this): number {
    const at = as.#count === 0 ? -1 : this.#like(as, 0)
    return at < 0 ? Number.NaN : this.#valueAt(at)
  }

  /** How long a gauge has had its newest value, by the samples there are. Unit: milliseconds. */
  held(): number {
    let back = 0
    while (back + 1 < this.#count && this.#valueAt(back + 1) === this.#valueAt(0)) back++
    return this.#count === 0 ? Number.NaN : this.#timeAt(0) - this.#timeAt(back)
  }

  /** Mean of a gauge's samples of the last `overMs`. */
  mean(overMs: number, as: Window = this): number {
    const since = as.#since(overMs)
    let sum = 0
    for (let back = 0; back <= since; back++) sum += this.#valueLike(as, back)
    return since < 0 ? Number.NaN : sum / (since + 1)
  }

  /** Largest of a gauge's samples of the last `overMs`. */
  max(overMs: number, as: Window = this): number {
    const since = as.#since(overMs)
    let most = since < 0 ? Number.NaN : this.#valueLike(as, 0)
    for (let back = 1; back <= since; back++) most = Math.max(most, this.#valueLike(as, back))
    return most
  }

  /** Smallest of a gauge's samples of the last `overMs`. */
  min(overMs: number, as: Window = this): number {
    const since = as.#since(overMs)
    let least = since < 0 ? Number.NaN : this.#valueLike(as, 0)
    for (let back = 1; back <= since; back++) least = Math.min(least, this.#valueLike(as, back))
    return least
  }

  /** Number of samples after a time. */
  samplesSince(timeMs: number): number {
    return this.#backTo(timeMs)
  }

  /** How often a gauge fell below a value and came back in the last `overMs`. */
  dips(below: number, overMs: number): number {
    let dips = 0
    for (let back = this.#since(overMs) - 1; back >= 0; back--)
      if (this.#valueAt(back) >= below && this.#valueAt(back + 1) < below) dips++
    return dips
  }

  /** Bits that were set in any of a gauge's samples of the last `overMs`. */
  bits(overMs: number): number {
    const since = this.#since(overMs)
    let bits = since < 0 ? Number.NaN : 0
    for (let back = 0; back <= since; back++) bits |= this.#valueAt(back)
    return bits
  }

  /** Rate of a counter over the last `overMs`, or as much of it as there is. Unit: per second. */
  rate(overMs: number, as: Window = this): number {
    const before = as.#before(overMs)
    if (before <= 0) return Number.NaN
    const [to, from] = [this.#like(as, 0), this.#like(as, before)]
    if (to < 0 || from <= to) return Number.NaN
    return ((this.#valueAt(to) - this.#valueAt(from)) / (this.#timeAt(to) - this.#timeAt(from))) * 1000
  }

  /** The largest rate between two neighbouring samples of the last `overMs`. Unit: per second. */
  peak(overMs: number): number {
    const from = this.#before(overMs)
    let most = Number.NaN
    for (let back = 0; back < from; back++) {
      const rate =
        ((this.#valueAt(back) - this.#valueAt(back + 1)) / (this.#timeAt(back) - this.#timeAt(back + 1))) * 1000
      if (!(rate <= most)) most = rate
    }
    return most
  }

  /** What a counter gained in the last `overMs`, or in as much of it as there is. */
  increase(overMs: number, as: Window = this): number {
    const before = as.#before(overMs)
    if (before <= 0) return Number.NaN
    const [to, from] = [this.#like(as, 0), this.#like(as, before)]
    return to < 0 || from <= to ? Number.NaN : this.#valueAt(to) - this.#valueAt(from)
  }

  #pushValue(timeMs: number, value: number, isFrozen: boolean): void {
    this.#append(timeMs, value)
    if (!isFrozen) this.#remember()
  }

  #pushTotal(timeMs: number, raw: number, apartMs: number, isFrozen: boolean): void {
    const gain = raw - this.#raw
    const isKnown = this.#count > 0
    this.#raw = raw
    if (this.#isNew) this.before = raw
    // A counter that began again has forgotten what was before.
    else if (gain < 0) this.before = 0
    this.#isNew = false
    if (isKnown && (gain < 0 || gain / apartMs > this.#signal.rateMax / 1000)) this.#restart(timeMs)
    if (this.#count === 0) {
      this.#append(timeMs, 0)
      return
    }
    if (gain > 0) this.roseMs = timeMs
    if (this.#signal.past === 'events') this.past?.add(timeMs, gain, apartMs)
    this.#append(timeMs, this.#valueAt(0) + gain)
    if (!isFrozen) this.#remember()
  }

  /**
   * Adds a sample to the mean of the past, some samples late: the first ones of a fault must not be what it is compared
   * with.
   */
  #remember(): void {
    if (this.#signal.past !== 'mean' || this.#count < PAST_LAG + 2) return
    const weightMs = this.#timeAt(PAST_LAG) - this.#timeAt(PAST_LAG + 1)
    const gain = this.#valueAt(PAST_LAG) - this.#valueAt(PAST_LAG + 1)
    const sum = this.#signal.reads === 'gauge' ? this.#valueAt(PAST_LAG) * weightMs : gain * 1000
    this.past?.add(this.#timeAt(PAST_LAG), sum, weightMs)
  }

  #restart(timeMs: number): void {
    this.#count = 0
    this.brokeMs = timeMs
  }

  #append(timeMs: number, value: number): void {
    if (this.#count > 0) this.#periodMs = timeMs - this.#timeAt(0)
    this.#end = (this.#end + 1) % SAMPLE_COUNT
    this.#times[this.#end] = timeMs
    this.#values[this.#end] = value
    if (this.#count < SAMPLE_COUNT) this.#count++
  }

  /** How far back the oldest sample of the last `overMs` is; −1 where there is none. */
  #since(overMs: number): number {
    if (this.#count === 0) return -1
    return Math.max(0, this.#backTo(this.#timeAt(0) - overMs) - 1)
  }

  /**
   * How far back the sample is that ends a stretch of `overMs`; a little less is enough, since samples are never
   * exactly apart.
   */
  #before(overMs: number): number {
    if (this.#count < 2) return this.#count - 1
    return Math.min(this.#count - 1, Math.max(1, this.#backTo(this.#timeAt(0) - overMs + APART_MS / 2)))
  }

  /** How far back the newest sample is that is no later than a time; the number of samples where all are later. */
  #backTo(timeMs: number): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#timeAt(middle) <= timeMs) high = middle
      else low = middle + 1
    }
    return low
  }

  #valueLike(as: Window, back: number): number {
    const at = this.#like(as, back)
    return at < 0 ? Number.NaN : this.#valueAt(at)
  }

  /** How far back the own sample is that has the moment of a sample of another window; −1 where there is none. */
  #like(as: Window, back: number): number {
    if (as === this) return back
    const timeMs = as.#timeAt(back)
    const near = this.#backTo(timeMs)
    const apartMs = (at: number) =>
      at < 0 || at >= this.#count ? Number.POSITIVE_INFINITY : Math.abs(this.#timeAt(at) - timeMs)
    const at = apartMs(near - 1) < apartMs(near) ? near - 1 : near
    const period = maxKnown(this.periodMs, as.periodMs)
    // Devices that are read in turn have no moment in common.
    const allowedMs = this.#signal.inTurns ? period : period * MOMENT_PERIODS
    return apartMs(at) <= (Number.isNaN(allowedMs) ? APART_MS : allowedMs) ? at : -1
  }

  #timeAt(back: number): number {
    return this.#times[(this.#end - back + SAMPLE_COUNT) % SAMPLE_COUNT] as number
  }

  #valueAt(back: number): number {
    return this.#values[(this.#end - back + SAMPLE_COUNT) % SAMPLE_COUNT] as number
  }
}
