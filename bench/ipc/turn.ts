import { spawnSync } from 'node:child_process'
import { median } from '../bench.ts'
import { usedBy } from '../idle/process.ts'
import type { FarEnd } from './far-ends.ts'
import type { Sender } from './senders.ts'

/** The first second of a far end includes the time in which it was stopped. Unit: milliseconds. */
const STILL_MS = 1100

/** How one turn of a sender went. */
export interface Turn {
  /** Unit: millions of records a second, from the first report until the last acknowledgement. */
  readonly millionsPerSecond: number
  /** Processor time of both processes together. Unit: seconds a million records. */
  readonly cpuSeconds: number
  /** Longest turn of the far end's event loop meanwhile, where it says so. Unit: milliseconds. */
  readonly loopMsMax: number | undefined
}

/**
 * One sender reports to one far end. The far end is stopped before and after, so that its remaining work takes nothing
 * from the others. Its files are on the disk before the next turn starts.
 */
export async function take(sender: Sender, farEnd: FarEnd, durationMs: number): Promise<Turn> {
  spawnSync('sync')
  process.kill(farEnd.pid, 'SIGCONT')
  const fromMs = Date.now() + STILL_MS
  try {
    const [startMs, usedBefore, farBefore] = [performance.now(), process.cpuUsage(), usedBy(farEnd.pid).cpuSeconds]
    const records = await sender.report(farEnd.socketsDir, durationMs)
    const seconds = (performance.now() - startMs) / 1000
    const { user, system } = process.cpuUsage(usedBefore)
    const farSeconds = usedBy(farEnd.pid).cpuSeconds - farBefore
    await farEnd.check(records)
    const millions = records / 1e6
    return {
      millionsPerSecond: millions / seconds,
      cpuSeconds: (farSeconds + (user + system) / 1e6) / millions,
      loopMsMax: await farEnd.loopMsMax?.(fromMs),
    }
  } finally {
    process.kill(farEnd.pid, 'SIGSTOP')
  }
}

/** How much faster one is than another: the median of the ratios within the rounds. */
export function ratioOf(ours: readonly Turn[], theirs: readonly Turn[]): number {
  return median(ours.map((turn, round) => turn.millionsPerSecond / (theirs[round]?.millionsPerSecond ?? Number.NaN)))
}
