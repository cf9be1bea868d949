import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { hasHangingThread } from './hanging-threads.ts'
import type { Running } from './run.ts'

const STOP_LIMIT_MS = 4500
/** How often it looks whether threads still wait for a disk. Unit: milliseconds. */
const LOOK_MS = 50
/**
 * SIGHUP comes when a terminal is closed. The configuration is read at the start only, so there is nothing to read
 * again.
 */
const ENDS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/**
 * A terminal, npm and a supervisor may each hand on the same signal; one that comes later than this is meant as a
 * second.
 */
const SECOND_SIGNAL_MS = 1000

/**
 * Runs until SIGINT, SIGTERM or SIGHUP, then closes within the limit. A second signal ends at once. Resolves with the
 * exit code: 0, or 128 and the number of the second signal. Where something hangs beyond the limit the process kills
 * itself: an exit would wait for threads, and one that waits for a disk that hangs never ends.
 */
export async function untilSignal(starting: Promise<Running>): Promise<number> {
  const { first, second } = watchSignals()
  // One that cannot start rejects here; a signal that comes earlier waits for it.
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
