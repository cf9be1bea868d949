import type { Integer64 } from '@sonde/sdk/internal'

const WRAP = 2 ** 32
/**
 * A counter that wraps stood in the last quarter of its range before: what is read less often than that could have
 * wrapped twice.
 */
const NEAR_TOP = WRAP * 0.75
/**
 * Drivers give a value again for a moment, so that two values may lie further apart than the two readings. Unit:
 * milliseconds.
 */
const SLACK_MS = 100

/** When a counter was read, and how fast it can count. */
export interface Reading {
  /** On the monotonic clock. Unit: milliseconds. */
  readonly nowMs: number
  /** What the hardware can count at most. Unit: events per second. */
  readonly eventsPerS: number
}

/**
 * Widens a counter that its device keeps in 32 bits. A value below the last one is a wrap where the last one was near
 * the top and the hardware can have counted from there to here in the time between, else a restart, which is passed on
 * as one: a wrap that is taken for a restart loses what one interval counted, a restart that is taken for a wrap
 * invents up to 4 billion events. A value of more than 32 bits says that the driver does this itself; it is passed on
 * as it is.
 */
export class WideCounter {
  #last: Integer64 = 0
  #readMs = 0
  /** What the wraps so far add up to. */
  #wrapped = 0

  /** The counter as if it were wide, after a reading of it. */
  next(value: Integer64, { nowMs, eventsPerS }: Reading): Integer64 {
    const last = this.#last
    const elapsedMs = nowMs - this.#readMs + SLACK_MS
    this.#last = value
    this.#readMs = nowMs
    if (value >= WRAP) this.#wrapped = 0
    else if (value < last) {
      const gain = WRAP - Number(last) + Number(value)
      const isWrap = last >= NEAR_TOP && last < WRAP && gain <= (eventsPerS * elapsedMs) / 1000
      this.#wrapped = isWrap ? this.#wrapped + WRAP : 0
    }
    return this.#wrapped === 0 ? value : Number(value) + this.#wrapped
  }

  /** Forgets the past: the device behind the counter is another one by now. */
  restart(): void {
    this.#last = 0
    this.#wrapped = 0
  }
}
