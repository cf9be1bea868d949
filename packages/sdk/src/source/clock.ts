const REANCHOR_MS = 1000
const STEP_MS = 3

let anchorWallMs = Date.now()
let anchorTicksNs = process.hrtime.bigint()
let checkedMs = anchorWallMs

/**
 * The wall clock in nanoseconds since the Unix epoch. The kernel gives JavaScript whole milliseconds only, so the monotonic clock fills in
 * between; the two are compared once a second, and a step of the wall clock beyond 3 ms is followed.
 */
export function wallNs(): bigint {
  const ticksNs = process.hrtime.bigint()
  const elapsedNs = ticksNs - anchorTicksNs
  const nowMs = Date.now()
  if (nowMs - checkedMs >= REANCHOR_MS || nowMs < checkedMs) {
    checkedMs = nowMs
    const expectedMs = anchorWallMs + Number(elapsedNs) / 1e6
    if (Math.abs(nowMs - expectedMs) > STEP_MS) {
      anchorWallMs = nowMs
      anchorTicksNs = ticksNs
      return BigInt(nowMs) * 1_000_000n
    }
  }
  return BigInt(anchorWallMs) * 1_000_000n + elapsedNs
}

/**
 * The wall clock in microseconds since the Unix epoch, for fields of `timestamp('us')`: a number, exact until the year 2255, which is encoded faster than the
 * bigint of {@link wallNs}.
 */
export function timestampUs(): number {
  return Number(wallNs() / 1000n)
}
