const REANCHOR_MS = 1000
const STEP_MS = 3

/** One moment by the wall clock and by the monotonic one, as a bigint and as a number. */
let anchorWallMs = Date.now()
let anchorTicksNs = process.hrtime.bigint()
let anchorTicksMs = performance.now()
/** When the two were compared, by either clock. */
let checkedWallMs = anchorWallMs
let checkedTicksMs = anchorTicksMs

/**
 * The wall clock in nanoseconds since the Unix epoch. The kernel gives JavaScript whole milliseconds only, so the
 * monotonic clock fills in between; the two are compared once a second, and a step of the wall clock beyond 3 ms is
 * followed.
 */
export function wallNs(): bigint {
  const nowMs = Date.now()
  if (nowMs - checkedWallMs >= REANCHOR_MS || nowMs < checkedWallMs) followSteps(nowMs)
  return BigInt(anchorWallMs) * 1_000_000n + (process.hrtime.bigint() - anchorTicksNs)
}

/**
 * The same clock as {@link wallNs} in microseconds, for fields of `timestamp('us')`: a number, exact until the year
 * 2255, which costs less to make and to encode than a bigint.
 */
export function timestampUs(): number {
  const ticksMs = performance.now()
  if (ticksMs - checkedTicksMs >= REANCHOR_MS) followSteps(Date.now())
  return anchorWallMs * 1000 + Math.floor((ticksMs - anchorTicksMs) * 1000)
}

function followSteps(nowMs: number): void {
  const ticksMs = performance.now()
  checkedWallMs = nowMs
  checkedTicksMs = ticksMs
  if (Math.abs(nowMs - (anchorWallMs + ticksMs - anchorTicksMs)) <= STEP_MS) return
  anchorWallMs = nowMs
  anchorTicksNs = process.hrtime.bigint()
  anchorTicksMs = ticksMs
}
