import { uptime } from 'node:os'

const UPTIME_RANGE_MS = 2 ** 32
/** How long this host had been up when the monotonic clock of this process stood at 0. */
const startUptimeMs = uptime() * 1000 - performance.now()

/**
 * How long this host has been up, for FIRST_SWITCHED and LAST_SWITCHED of NetFlow. Begins anew every 49.7 days, because
 * these fields have 32 bits. Unit: milliseconds.
 */
export function uptimeMs(): number {
  return Math.floor(startUptimeMs + performance.now()) % UPTIME_RANGE_MS
}

/** When {@link uptimeMs} was 0. Follows the wall clock. Unit: milliseconds since the Unix epoch. */
export function bootMs(): number {
  return Date.now() - uptimeMs()
}
