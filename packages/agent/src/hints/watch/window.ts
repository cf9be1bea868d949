import { maxKnown } from '../inspection/numbers.ts'
import { Past } from './past.ts'
import type { HintSignal } from './signal.ts'

/** Samples in a window; the oldest are dropped first. At one sample a second, two minutes. */
const SAMPLE_COUNT = 128
/** Closer samples are skipped: a counter loses nothing, and rules are evaluated twice a second. Unit: milliseconds. */
export const APART_MS = 450
/** Number of samples before a sample enters the past mean. */
const PAST_LAG = 4
/** A sample counts as the newest for this many periods. */
const FRESH_PERIODS = 3.5
const FRESH_MIN_MS = 3500
/**
 * Samples of two series belong to the same moment if they are at most this many periods apart. A missed sample is a
 * whole period away.
 */
const MOMENT_PERIODS = 0.75
/** The period is the shortest of this many gaps, because samples may be missed. */
const GAPS = 4

/**
 * The last samples of one signal of one series. A counter is stored as its increase since the start of the window. If
 * the increase is unknown, as after a reset, a long pause or a step of the clock, the window starts again.
 */
export class SignalWindow {
  readonly #signal: HintSignal
  readonly #times = new Float64Array(SAMPLE_COUNT)
  readonly #values = new Float64Array(SAMPLE_COUNT)
  /** Mean or events of the last 10 minutes, if the signal keeps them. */
  readonly past: Past | undefined
  #count = 0
  #end = 0
  #raw = 0
  #periodMs = 0
  /** When the counter last rose. Unit: milliseconds since the Unix epoch; −∞ if it never rose. */
  roseMs = Number.NEGATIVE_INFINITY
  /** Value of the counter when its series was first seen; 0 if the series started while it was watched. */
  before = 0
  #isNew = true
  /** When the window last started again, except for its first sample. */
  brokeMs = Number.NEGATIVE_INFINITY

  constructor(signal: HintSignal) {
    this.#signal = signal
    this.past = signal.past === undefined ? undefined : new Past()
  }

  /** Time of the newest sample; NaN before the first. */
  get newestMs(): number {
    return this.#count === 0 ? Number.NaN : this.#timeAt(0)
  }

  /** Whether the newest sample is recent, and the clock was not set back since. */
  isFresh(nowMs: number): boolean {
    return (
      this.#count > 0 && Math.abs(nowMs - this.#timeAt(0)) <= Math.max(FRESH_MIN_MS, this.#periodMs * FRESH_PERIODS)
    )
  }

  /** Starts a counter at 0, because its series appeared with its first event. */
  beginAtZero(timeMs: number): void {
    this.#raw = 0
    this.#isNew = false
    this.#append(timeMs - 1000, 0)
  }

  /** Takes a sample. A frozen past mean does not change. */
  push(timeMs: number, raw: number, isFrozen: boolean): void {
    if (!Number.isFinite(raw)) return
    const apartMs = this.#count === 0 ? Number.NaN : timeMs - this.#timeAt(0)
    if (apartMs > 0 && apartMs < APART_MS) return
    if (apartMs <= 0 || apartMs > Math.max(this.#signal.pauseMs, this.#periodMs * 10)) this.#restart(timeMs)
    if (this.#signal.reads === 'gauge') this.#pushValue(timeMs, raw, isFrozen)
    else this.#pushTotal(timeMs, raw, apartMs, isFrozen)
  }

  /** Time between two samples, ignoring missed samples. Unit: milliseconds; NaN before the second sample. */
  get periodMs(): number {
    let periodMs = Number.NaN
    for (let back = 0; back < Math.min(GAPS, this.#count - 1); back++) {
      const gapMs = this.#timeAt(back) - this.#timeAt(back + 1)
      if (!(periodMs <= gapMs)) periodMs = gapMs
    }
    return periodMs
  }

  // Methods with `as` read the samples at the sample times of that window, because devices are only compared at the
  // same moments. NaN if a sample of such a moment is missing.

  /** The newest value of a gauge. */
  last(as: SignalWindow = this): number {
    const at = as.#count === 0 ? -1 : this.#like(as, 0)
    return at < 0 ? Number.NaN : this.#valueAt(at)
  }

  /** How long a gauge has had its newest value, within the kept samples. Unit: milliseconds. */
  held(): number {
    let back = 0
    while (back + 1 < this.#count && this.#valueAt(back + 1) === this.#valueAt(0)) back++
    return this.#count === 0 ? Number.NaN : this.#timeAt(0) - this.#timeAt(back)
  }

  /** Mean of a gauge's samples of the last `overMs`. */
  mean(overMs: number, as: SignalWindow = this): number {
    const since = as.#since(overMs)
    let sum = 0
    for (let back = 0; back <= since; back++) sum += this.#valueLike(as, back)
    return since < 0 ? Number.NaN : sum / (since + 1)
  }

  /** Largest of a gauge's samples of the last `overMs`. */
  max(overMs: number, as: SignalWindow = this): number {
    const since = as.#since(overMs)
    let most = since < 0 ? Number.NaN : this.#valueLike(as, 0)
    for (let back = 1; back <= since; back++) most = Math.max(most, this.#valueLike(as, back))
    return most
  }

  /** Smallest of a gauge's samples of the last `overMs`. */
  min(overMs: number, as: SignalWindow = this): number {
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

  /** Rate of a counter over the last `overMs`, or over the samples that exist. Unit: per second. */
  rate(overMs: number, as: SignalWindow = this): number {
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

  /** Increase of a counter in the last `overMs`, or over the samples that exist. */
  increase(overMs: number, as: SignalWindow = this): number {
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
    // A counter that was reset has lost its earlier value.
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

  /** Adds a sample to the past mean, some samples late, so that the start of a fault does not enter the mean. */
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

  /** Index of the oldest sample of the last `overMs`, counted back from the newest; −1 if there is none. */
  #since(overMs: number): number {
    if (this.#count === 0) return -1
    return Math.max(0, this.#backTo(this.#timeAt(0) - overMs) - 1)
  }

  /**
   * Index of the sample at the start of the last `overMs`, counted back from the newest. Slightly less time is
   * accepted, because the distances of samples vary.
   */
  #before(overMs: number): number {
    if (this.#count < 2) return this.#count - 1
    return Math.min(this.#count - 1, Math.max(1, this.#backTo(this.#timeAt(0) - overMs + APART_MS / 2)))
  }

  /**
   * Index of the newest sample that is not later than a time, counted back from the newest; the number of samples if
   * all are later.
   */
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

  #valueLike(as: SignalWindow, back: number): number {
    const at = this.#like(as, back)
    return at < 0 ? Number.NaN : this.#valueAt(at)
  }

  /** Index of this window's sample at the moment of another window's sample; −1 if there is none. */
  #like(as: SignalWindow, back: number): number {
    if (as === this) return back
    const timeMs = as.#timeAt(back)
    const near = this.#backTo(timeMs)
    const apartMs = (at: number) =>
      at < 0 || at >= this.#count ? Number.POSITIVE_INFINITY : Math.abs(this.#timeAt(at) - timeMs)
    const at = apartMs(near - 1) < apartMs(near) ? near - 1 : near
    const period = maxKnown(this.periodMs, as.periodMs)
    // Devices that are read in turn share no moment.
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
