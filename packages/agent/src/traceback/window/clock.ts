import { wallOffsetNs } from '@sonde/sdk/internal'

/** The clocks of the host. */
export interface EventClock {
  /** The monotonic clock. Unit: nanoseconds. */
  monoNs(): bigint
  /** What makes a time of that clock one of the wall clock, now. Unit: nanoseconds. */
  wallOffsetNs(): bigint
}

/** Those of the machine. */
export const systemClock: EventClock = { monoNs: () => process.hrtime.bigint(), wallOffsetNs }

/** Milliseconds of nanoseconds, with what a double holds of the fraction. */
export function msOf(ns: bigint): number {
  return Number(ns / 1000n) / 1000
}
