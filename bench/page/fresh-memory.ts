const PAGE_BYTES = 4096
const BYTES = 64 << 20
const ROUNDS = 3

/**
 * What the first touch of a page of memory costs here: nothing like the same on two virtual machines with one
 * processor. Chromium touches thousands with every answer that it draws. Unit: microseconds of processor time.
 */
export function freshPageUs(): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    // Large buffers come from the system, not from freed memory.
    const bytes = Buffer.allocUnsafeSlow(BYTES)
    const before = process.cpuUsage()
    for (let at = 0; at < BYTES; at += PAGE_BYTES) bytes[at] = 1
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / (BYTES / PAGE_BYTES))
  }
  return least
}
