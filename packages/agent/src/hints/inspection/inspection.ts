import type { Labels } from '@sonde/sdk'
import type { HintDevice } from '../device.ts'
import type { HintSignal } from '../watch/signal.ts'
import type { SignalWindow } from '../watch/window.ts'
import { firstKnown, maxKnown, median } from './numbers.ts'
import type { Scope } from './scope.ts'

/** Default window of rules. It is longer than a step of most training, so phases even out. Unit: milliseconds. */
export const SHORT_MS = 3000
/** From the previous sample to the newest sample. Unit: milliseconds. */
export const LATEST_MS = 1000
/** How long an event is shown. Unit: milliseconds. */
export const EVENT_OVER_MS = 60_000
/** Least history of a base mean. Unit: milliseconds. */
const BASE_LEAST_MS = 60_000
/**
 * Least history of a base mean for steady signals, so that a fault soon after the start is noticed. Unit: milliseconds.
 */
export const SHORT_BASE_LEAST_MS = 8000

/**
 * The signals of one device at one instant, as rules see them. Missing, stale and unknown values are NaN. Every
 * comparison with NaN is false, so a missing value never makes a rule hold.
 */
export class Inspection {
  readonly device: HintDevice
  readonly scope: Scope
  /** Newest sample that the current rule has read; reset before each rule. Unit: milliseconds since the Unix epoch. */
  newestMs = Number.NEGATIVE_INFINITY
  readonly #windows: Map<HintSignal, SignalWindow[]>
  readonly #labels: Map<HintSignal, Labels[]>
  /** The device whose sample times are used; undefined for the device itself. */
  readonly #as: Inspection | undefined
  #isMissing = false

  /**
   * @param at The signals of the same device, and the device whose sample times are used. Default: its own sample
   * times.
   */
  constructor(device: HintDevice, scope: Scope, at?: { readonly known: Inspection; readonly as: Inspection }) {
    this.device = device
    this.scope = scope
    this.#windows = at === undefined ? new Map() : at.known.#windows
    this.#labels = at === undefined ? new Map() : at.known.#labels
    this.#as = at?.as
  }

  /**
   * The device at the sample times of another device. Devices with the same work differ from one sample to the next. A
   * value is unknown if a sample at such a time is missing.
   */
  as(other: Inspection): Inspection {
    return other === this ? this : new Inspection(this.device, this.scope, { known: this, as: other })
  }

  /** Adds a window of one of the device's series. */
  add(signal: HintSignal, window: SignalWindow, labels: Labels): void {
    listIn(this.#windows, signal).push(window)
    listIn(this.#labels, signal).push(labels)
  }

  /**
   * The median of the siblings, read at this device's sample times. `unknown` if no sibling has a value; NaN if the
   * siblings with values have no samples at these times.
   */
  usual(read: (sibling: Inspection) => number, unknown = Number.NaN): number {
    const siblings = this.scope.siblings(this).map((sibling) => sibling.as(this))
    const usual = median(siblings.map(read))
    return siblings.some((sibling) => sibling.#isMissing) ? usual : firstKnown(usual, unknown)
  }

  /** Labels of each series that has the signal. */
  labels(signal: HintSignal): readonly Labels[] {
    return this.#labels.get(signal) ?? []
  }

  /** Whether any of the device's series has the signal now. */
  has(signal: HintSignal): boolean {
    return this.#fresh(signal).length > 0
  }

  /** Mean rate of a counter over the last `overMs`. Unit: per second. */
  rate(signal: HintSignal, overMs = SHORT_MS): number {
    return this.#join(signal, (window, as) => window.rate(overMs, as))
  }

  /** The highest rate between two samples of the last `overMs`. Unit: per second. */
  peak(signal: HintSignal, overMs: number): number {
    return this.#join(signal, (window) => window.peak(overMs))
  }

  /** Increase of a counter in the last `overMs`. */
  increase(signal: HintSignal, overMs: number): number {
    return this.#join(signal, (window, as) => window.increase(overMs, as))
  }

  /** Value of a counter when Sonde first saw it. */
  before(signal: HintSignal): number {
    return this.#join(signal, (window) => window.before)
  }

  /** Increase of a counter in the last 10 minutes. */
  events(signal: HintSignal): number {
    return this.#join(signal, (window) => window.past?.total() ?? Number.NaN)
  }

  /** Newest value of a gauge. */
  last(signal: HintSignal): number {
    return this.#join(signal, (window, as) => window.last(as))
  }

  /** How long a gauge has had its newest value, within the kept samples. Unit: milliseconds. */
  held(signal: HintSignal): number {
    return this.#join(signal, (window) => window.held())
  }

  /** Mean of a gauge over the last `overMs`. */
  mean(signal: HintSignal, overMs = SHORT_MS): number {
    return this.#join(signal, (window, as) => window.mean(overMs, as))
  }

  /** Largest value of a gauge in the last `overMs`. */
  max(signal: HintSignal, overMs: number): number {
    return this.#join(signal, (window, as) => window.max(overMs, as))
  }

  /** Smallest value of a gauge in the last `overMs`. */
  min(signal: HintSignal, overMs: number): number {
    return this.#join(signal, (window, as) => window.min(overMs, as))
  }

  /** How often a gauge fell below a value and came back in the last `overMs`. */
  dips(signal: HintSignal, below: number, overMs: number): number {
    return this.#join(signal, (window) => window.dips(below, overMs))
  }

  /**
   * The device's mean of the last 10 minutes, without times with an open hint. NaN before there are `leastMs` of it.
   */
  base(signal: HintSignal, leastMs = BASE_LEAST_MS): number {
    return this.#join(signal, (window) => window.past?.mean(leastMs) ?? Number.NaN)
  }

  /** Time since a counter last rose. Unit: milliseconds; ∞ if it never rose while it was watched. */
  sinceRise(signal: HintSignal): number {
    let roseMs = Number.NEGATIVE_INFINITY
    for (const window of this.#fresh(signal)) roseMs = Math.max(roseMs, window.roseMs)
    return this.scope.nowMs - roseMs
  }

  /**
   * Time since the last reset of a counter, or the last end of a long pause of its series. Unit: milliseconds; ∞ if
   * there was none.
   */
  sinceBreak(signal: HintSignal): number {
    let brokeMs = Number.NEGATIVE_INFINITY
    for (const window of this.windows(signal)) brokeMs = Math.max(brokeMs, window.brokeMs)
    return this.scope.nowMs - brokeMs
  }

  /** Bits that were set in any sample of a gauge of bits in the last `overMs`. */
  bits(signal: HintSignal, overMs: number): number {
    return this.#join(signal, (window) => window.bits(overMs))
  }

  /** The rates of a counter's individual series, such as lanes. Unit: per second. */
  rates(signal: HintSignal, overMs = SHORT_MS): number[] {
    const as = this.#momentsOf(signal)
    return this.#fresh(signal).map((window) => window.rate(overMs, as))
  }

  /** Time of the newest sample, however old it is. Unit: milliseconds since the Unix epoch. */
  lastSeenMs(signal: HintSignal): number {
    return this.windows(signal).reduce(
      (newest, { newestMs }) => (newestMs > newest ? newestMs : newest),
      Number.NEGATIVE_INFINITY,
    )
  }

  /** Number of samples after a time, from the series with most samples. */
  samplesSince(signal: HintSignal, timeMs: number): number {
    return this.windows(signal).reduce((most, window) => Math.max(most, window.samplesSince(timeMs)), 0)
  }

  /** Time between two samples of the signal's slowest series. Unit: milliseconds; NaN before the second sample. */
  periodMs(signal: HintSignal): number {
    return maxKnown(...this.windows(signal).map((window) => window.periodMs))
  }

  /** All windows of a signal, including stale windows. */
  windows(signal: HintSignal): readonly SignalWindow[] {
    return this.#windows.get(signal) ?? []
  }

  #fresh(signal: HintSignal): SignalWindow[] {
    const windows = this.#windows.get(signal)
    if (windows === undefined) return []
    const { nowMs } = this.scope
    const fresh = windows.filter((window) => window.isFresh(nowMs))
    for (const { newestMs } of fresh) if (newestMs > this.newestMs) this.newestMs = newestMs
    return fresh
  }

  /** The window whose sample times are used for a signal; undefined if each window uses its own. */
  #momentsOf(signal: HintSignal): SignalWindow | undefined {
    return this.#as?.windows(signal).find((window) => window.isFresh(this.scope.nowMs))
  }

  #join(signal: HintSignal, read: (window: SignalWindow, as?: SignalWindow) => number): number {
    const windows = this.#windows.get(signal)
    let joined = Number.NaN
    if (windows === undefined) return joined
    const { nowMs } = this.scope
    const as = this.#as && this.#momentsOf(signal)
    for (const window of windows) {
      if (!window.isFresh(nowMs)) continue
      if (window.newestMs > this.newestMs) this.newestMs = window.newestMs
      const value = read(window, as)
      if (Number.isNaN(value)) {
        if (as !== undefined) this.#isMissing = true
        continue
      }
      if (Number.isNaN(joined)) joined = value
      else joined = signal.across === 'sum' ? joined + value : Math.max(joined, value)
    }
    return joined
  }
}

function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key)
  if (list === undefined) {
    list = []
    lists.set(key, list)
  }
  return list
}
