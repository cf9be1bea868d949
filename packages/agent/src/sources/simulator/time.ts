/** Where the time of simulated nodes begins: 1 January 2026. Unit: milliseconds since the Unix epoch. */
export const EPOCH_MS = 1_767_225_600_000

/** The same in nanoseconds. */
export const EPOCH_NS = BigInt(EPOCH_MS) * 1_000_000n

/**
 * Seconds since the epoch of the simulation. To some 10 ns, which is what a double holds; a clock that stands before
 * the epoch counts as the epoch.
 */
export function secondsOf(timeNs: bigint): number {
  return Math.max(0, Number(timeNs - EPOCH_NS) / 1e9)
}

/** {@link secondsOf} of a time in milliseconds since the Unix epoch. */
export function secondsOfMs(timeMs: number): number {
  return Math.max(0, (timeMs - EPOCH_MS) / 1000)
}

/** Milliseconds since the Unix epoch of seconds of the simulation. */
export function msOfSeconds(seconds: number): number {
  return EPOCH_MS + seconds * 1000
}
