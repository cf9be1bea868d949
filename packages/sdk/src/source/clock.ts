const REANCHOR_MS = 1000
const STEP_MS = 3

/** A reading that takes longer may have been interrupted; a few are tried for a shorter one. */
const CLOSE_MS = 0.25
const READINGS_MAX = 8

/** One moment by the wall clock and by the monotonic one. */
interface Moment {
  readonly wallMs: number
  readonly ticksMs: number
  /** The wall clock less the monotonic one. */
  readonly offsetNs: bigint
  /** How far apart the readings may be. */
  readonly errorMs: number
}

let anchor = readMoment()
/** When the two were compared, by either clock. */
let checkedWallMs = anchor.wallMs
let checkedTicksMs = anchor.ticksMs

/**
 * The wall clock in nanoseconds since the Unix epoch. The kernel gives JavaScript whole milliseconds only, so the
 * monotonic clock fills in between; the two are compared once a second, and a step of the wall clock beyond 3 ms is
 * followed.
 */
export function wallNs(): bigint {
  return process.hrtime.bigint() + wallOffsetNs()
}

/** The clock of {@link wallNs} less the monotonic one of `process.hrtime`. Unit: nanoseconds. */
export function wallOffsetNs(): bigint {
  const nowMs = Date.now()
  if (nowMs - checkedWallMs >= REANCHOR_MS || nowMs < checkedWallMs) followSteps()
  return anchor.offsetNs
}

/**
 * The same clock as {@link wallNs} in microseconds, for fields of `timestamp('us')`: a number, exact until the year
 * 2255, which costs less to make and to encode than a bigint.
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
  // On a busy machine the process may stand still between two readings, which is no step.
  if (Math.abs(stepMs) > STEP_MS + now.errorMs) anchor = now
}

/** Reads the clocks as close together as it can. */
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
