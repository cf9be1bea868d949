// A clock that main thread and workers share, and that a test sets ahead. Import it before anything that asks for the
// time.
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const KEY = 'simulated clock'
if (isMainThread) setEnvironmentData(KEY, new SharedArrayBuffer(8))
/** How far it is ahead. Unit: milliseconds. */
const ahead = new Float64Array(getEnvironmentData(KEY) as unknown as SharedArrayBuffer)

const { now: wallNow } = Date
const monotonicNow = performance.now.bind(performance)
Date.now = () => wallNow() + (ahead[0] ?? 0)
performance.now = () => monotonicNow() + (ahead[0] ?? 0)

/** Sets the clock ahead, for all threads. */
export function advance(ms: number): void {
  ahead[0] = (ahead[0] ?? 0) + ms
}
