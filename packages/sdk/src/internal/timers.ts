/** Where delivery gets its time from, so that tests can bring their own. */
export interface Timers {
  /** A clock that only rises. Unit: milliseconds. */
  nowMs(): number
  /**
   * Calls back once, after the delay; with 0 in the next turn of the event loop. Returns a function that calls it off.
   */
  after(delayMs: number, run: () => void): () => void
}

/** The timers of the process. */
export const processTimers: Timers = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    if (delayMs <= 0) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** The timers of the process, without keeping it alive. */
export const backgroundTimers: Timers = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves when the promise settles, or when the time is up; never rejects. */
export async function within(timers: Timers, limitMs: number, promise: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      cancel()
      resolve()
    }
    const cancel = timers.after(Math.max(0, limitMs), resolve)
    promise.then(done, done)
  })
}
