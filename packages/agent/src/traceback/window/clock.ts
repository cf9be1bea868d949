import { wallOffsetNs } from '@sonde/sdk/internal'

/** The clocks of the host. */
export interface EventClock {
  /** The monotonic clock. Unit: nanoseconds. */
  monoNs(): bigint
  /** Present offset from the monotonic clock to the wall clock. Unit: nanoseconds. */
  wallOffsetNs(): bigint
}

/** The clocks of the machine. */
export const systemClock: EventClock = { monoNs: () => process.hrtime.bigint(), wallOffsetNs }

/** Converts nanoseconds to milliseconds, keeping as much of the fraction as a double can. */
export function nsToMs(ns: bigint): number {
  return Number(ns / 1000n) / 1000
}
