import type { Integer64 } from '@sonde/sdk/internal'

const WRAP = 2 ** 32
/**
 * Before a wrap the counter must be in the last quarter of its range. A counter that is read too rarely for this could
 * wrap twice.
 */
const NEAR_TOP = WRAP * 0.75
/**
 * Drivers may repeat a value briefly, so two values may be further apart in time than the two readings. Unit:
 * milliseconds.
 */
const SLACK_MS = 100

/** Time of a reading, and the highest rate of the counter. */
export interface CounterReading {
  /** Monotonic clock. Unit: milliseconds. */
  readonly nowMs: number
  /** Highest rate of the hardware. Unit: events per second. */
  readonly eventsPerS: number
}

/**
 * Widens a 32-bit counter of a device. A smaller value is a wrap if the last value was near the top and the hardware
 * can have counted that far since; otherwise it is a restart, which stays visible. A wrap mistaken for a restart loses
 * the count of one interval. A restart mistaken for a wrap invents up to 4 billion events. A value beyond 32 bits shows
 * that the driver widens the counter itself; it is returned unchanged.
 */
export class WideCounter {
  #last: Integer64 = 0
  #readMs = 0
  /** Sum of all wraps so far. */
  #wrapped = 0

  /** Returns the widened value of a reading. */
  next(value: Integer64, { nowMs, eventsPerS }: CounterReading): Integer64 {
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

  /** Forgets earlier readings, because another device is behind the counter now. */
  restart(): void {
    this.#last = 0
    this.#wrapped = 0
  }
}
