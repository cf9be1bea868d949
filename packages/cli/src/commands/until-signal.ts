import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { hasHangingThread } from './hanging-threads.ts'
import type { Running } from './run.ts'

const STOP_LIMIT_MS = 4500
/** How often threads are checked for calls that hang. Unit: milliseconds. */
const LOOK_MS = 50
/**
 * SIGHUP arrives when a terminal is closed. It stops too, because the configuration is read at the start only.
 */
const ENDS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/**
 * A terminal, npm and a supervisor may forward the same signal. A signal after this time counts as a second one.
 */
const SECOND_SIGNAL_MS = 1000

/**
 * Runs until SIGINT, SIGTERM or SIGHUP, then closes within the limit. A second signal ends the process at once.
 * Resolves with the exit code: 0, or 128 plus the number of the second signal. If a part hangs beyond the limit, the
 * process kills itself: a normal exit waits for all threads, and a thread that waits for a broken disk never ends.
 */
export async function untilSignal(starting: Promise<Running>): Promise<number> {
  const { first, second } = watchSignals()
  // A command that fails to start rejects here; an earlier signal waits for it.
  await Promise.race([first, starting])
  await first
  const limit = setTimeout(
    () => killSelf(`stopping took more than ${STOP_LIMIT_MS} ms; a disk or a driver hangs`),
    STOP_LIMIT_MS,
  ).unref()
  const closed = starting.then((running) => running.close()).then(() => 0)
  try {
    const code = await Promise.race([second, closed])
    while (hasHangingThread()) await pause(LOOK_MS)
    return code
  } finally {
    clearTimeout(limit)
  }
}

function watchSignals(): { first: Promise<void>; second: Promise<number> } {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<number>()
  let firstMs: number | undefined
  const take = (signal: NodeJS.Signals) => {
    if (firstMs === undefined) firstMs = performance.now()
    else if (performance.now() - firstMs > SECOND_SIGNAL_MS) second.resolve(128 + constants.signals[signal])
    first.resolve()
  }
  for (const signal of ENDS) process.on(signal, take)
  return { first: first.promise, second: second.promise }
}

function killSelf(reason: string): void {
  writeSync(2, `sonde: ${reason}; killed\n`)
  process.kill(process.pid, 'SIGKILL')
}
