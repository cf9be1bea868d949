import { processTimers, within } from '@sonde/sdk/internal'

/**
 * Runs a task once a period, on a grid that does not drift, with a start spread over the period so that sources do not
 * all wake at once.
 */
export interface Ticker {
  /** Ticks that were skipped because the task before was not done, or the loop was late by more than a period. */
  readonly overruns: number
  /** Runs the task once more now, unless it runs; the grid stays. */
  now(): void
  /** Ends the ticking; resolves when a running task is done or `limitMs` has passed. */
  stop(limitMs: number): Promise<void>
}

/**
 * Runs a task periodically, never twice at the same time. An error of the task ends neither the period nor the process.
 *
 * @param failed Called with the error of the task.
 * @param phase Start within the period, 0 to 1. Default: random, so that agents that start together do not sample
 * together.
 * @param timers Source of time. Default: the timers of the process.
 */
export function startTicker(
  intervalMs: number,
  task: () => Promise<void> | void,
  failed: (error: unknown) => void,
  phase: number = Math.random(),
  timers = processTimers,
): Ticker {
  const originMs = timers.nowMs() + phase * Math.min(intervalMs, 1000)
  let tick = 0
  let overruns = 0
  let stopped = false
  let running: Promise<void> | undefined
  let cancel = timers.after(originMs - timers.nowMs(), run)

  function run(): void {
    if (stopped) return
    if (running === undefined) begin()
    else overruns++
    schedule()
  }

  function begin(): void {
    try {
      const done = task()
      if (done === undefined) return
      running = done.catch(failed).finally(() => {
        running = undefined
      })
    } catch (error) {
      failed(error)
    }
  }

  /** The next tick is counted from the origin, never from now: lateness does not add up. */
  function schedule(): void {
    // A timer may fire a little early, and would then be due again at once.
    const due = Math.max(tick + 1, Math.floor((timers.nowMs() - originMs) / intervalMs) + 1)
    overruns += Math.max(0, due - tick - 1)
    tick = due
    cancel = timers.after(originMs + due * intervalMs - timers.nowMs(), run)
  }

  return {
    get overruns() {
      return overruns
    },
    now() {
      if (!stopped && running === undefined) begin()
    },
    async stop(limitMs) {
      stopped = true
      cancel()
      if (running !== undefined) await within(limitMs, running)
    },
  }
}
