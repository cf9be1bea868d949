const REANCHOR_MS = 1000
const STEP_MS = 3

/** A longer reading may have been interrupted; it is repeated a few times. */
const CLOSE_MS = 0.25
const READINGS_MAX = 8

/** One moment in wall-clock and monotonic time. */
interface Moment {
  readonly wallMs: number
  readonly ticksMs: number
  /** Wall-clock time minus monotonic time. */
  readonly offsetNs: bigint
  /** The largest possible distance between the two readings. */
  readonly errorMs: number
}

let anchor = readMoment()
/** The time of the last comparison, on both clocks. */
let checkedWallMs = anchor.wallMs
let checkedTicksMs = anchor.ticksMs

/**
 * The wall clock in nanoseconds since the Unix epoch. JavaScript reads the wall clock only in whole milliseconds, so
 * the monotonic clock adds the rest. Both are compared once a second; a step of the wall clock beyond 3 ms is adopted.
 */
export function wallNs(): bigint {
  // The offset first: it may read the clocks anew, and a time from before that would lie in the past.
  const offsetNs = wallOffsetNs()
  return process.hrtime.bigint() + offsetNs
}

/** The time of {@link wallNs} minus that of `process.hrtime`. Unit: nanoseconds. */
export function wallOffsetNs(): bigint {
  const nowMs = Date.now()
  if (nowMs - checkedWallMs >= REANCHOR_MS || nowMs < checkedWallMs) followSteps()
  return anchor.offsetNs
}

/**
 * The time of {@link wallNs} in microseconds, for fields of `timestamp('us')`: a number, exact until the year 2255,
 * which costs less to make and to encode than a bigint.
 */
export function timestampUs(): number {
  const ticksMs = performance.now()
  if (ticksMs - checkedTicksMs >= REANCHOR_MS) followSteps()
  return anchor.wallMs * 1000 + Math.floor((ticksMs - anchor.ticksMs) * 1000)
}

function followSteps(): void {
  const now = readMoment()
  checkedWallMs = now.wallMs
  checkedTicksMs = now.ticksMs
  const stepMs = now.wallMs - anchor.wallMs - (now.ticksMs - anchor.ticksMs)
  // On a busy machine the process may be stopped between two readings; that is no step.
  if (Math.abs(stepMs) > STEP_MS + now.errorMs) anchor = now
}

/** Reads both clocks as close together as possible. */
function readMoment(): Moment {
  let closest: Moment | undefined
  for (let reading = 0; reading < READINGS_MAX; reading++) {
    const beforeMs = performance.now()
    const wallMs = Date.now()
    const offsetNs = BigInt(wallMs) * 1_000_000n - process.hrtime.bigint()
    const ticksMs = performance.now()
    const errorMs = ticksMs - beforeMs
    if (closest === undefined || errorMs < closest.errorMs) closest = { wallMs, ticksMs, offsetNs, errorMs }
    if (errorMs <= CLOSE_MS) break
  }
  return closest as Moment
}
