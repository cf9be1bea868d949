/** Start of the time of simulated nodes: 1 January 2026. Unit: milliseconds since the Unix epoch. */
export const EPOCH_MS = 1_767_225_600_000

/** {@link EPOCH_MS} in nanoseconds. */
export const EPOCH_NS = BigInt(EPOCH_MS) * 1_000_000n

/**
 * Seconds since the epoch of the simulation, to about 10 ns, the precision of a double. Earlier times count as the
 * epoch.
 */
export function secondsOf(timeNs: bigint): number {
  return Math.max(0, Number(timeNs - EPOCH_NS) / 1e9)
}

/** {@link secondsOf} of a time in milliseconds since the Unix epoch. */
export function secondsOfMs(timeMs: number): number {
  return Math.max(0, (timeMs - EPOCH_MS) / 1000)
}

/** Converts seconds of the simulation to milliseconds since the Unix epoch. */
export function msOfSeconds(seconds: number): number {
  return EPOCH_MS + seconds * 1000
}
