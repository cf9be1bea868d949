import type { HostStat } from './parse.ts'

/** Times of one CPU. */
type CpuTimes = HostStat['cpus'][number]

/** The highest times of a CPU, and the sum of its times at the last read. The kernel moves time between modes. */
interface Mark {
  readonly times: CpuTimes
  readonly totalS: number
}

/** If the sum falls by more than this, the CPU has restarted. Unit: seconds. */
const FALL_MAX_S = 3

/**
 * Keeps the highest times of each CPU. When an idle CPU sleeps, the kernel counts the time as idle or as iowait,
 * depending on whether a task waits for a disk at the moment of the read. Hypervisors also correct steal downwards. A
 * counter that falls looks restarted, and its rate would then be its whole value.
 */
export class CpuMarks {
  #marks = new Map<string, Mark>()
  #next = new Map<string, Mark>()

  /** Returns the times of a CPU, none lower than before. If the CPU restarted, returns its times as they are. */
  raise(times: CpuTimes): CpuTimes {
    const before = this.#marks.get(times.cpu)
    const totalS = totalOf(times)
    const isAnew = before === undefined || totalS < before.totalS - FALL_MAX_S
    const raised = isAnew ? times : highest(times, before.times)
    this.#next.set(times.cpu, { times: raised, totalS })
    return raised
  }

  /** Ends a sweep that has met every CPU. A CPU that is offline is forgotten, and starts again when it returns. */
  endSweep(): void {
    this.#marks = this.#next
    this.#next = new Map()
  }
}

function highest(times: CpuTimes, before: CpuTimes): CpuTimes {
  return {
    cpu: times.cpu,
    user_seconds_total: Math.max(times.user_seconds_total, before.user_seconds_total),
    nice_seconds_total: Math.max(times.nice_seconds_total, before.nice_seconds_total),
    system_seconds_total: Math.max(times.system_seconds_total, before.system_seconds_total),
    idle_seconds_total: Math.max(times.idle_seconds_total, before.idle_seconds_total),
    iowait_seconds_total: Math.max(times.iowait_seconds_total, before.iowait_seconds_total),
    irq_seconds_total: Math.max(times.irq_seconds_total, before.irq_seconds_total),
    softirq_seconds_total: Math.max(times.softirq_seconds_total, before.softirq_seconds_total),
    steal_seconds_total: Math.max(times.steal_seconds_total, before.steal_seconds_total),
    guest_seconds_total: Math.max(times.guest_seconds_total, before.guest_seconds_total),
    guest_nice_seconds_total: Math.max(times.guest_nice_seconds_total, before.guest_nice_seconds_total),
  }
}

/** The sum of all times of a CPU. The time of guests is part of user and nice. */
function totalOf(times: CpuTimes): number {
  const { user_seconds_total: user, nice_seconds_total: nice, system_seconds_total: system } = times
  const { idle_seconds_total: idle, iowait_seconds_total: iowait, irq_seconds_total: irq } = times
  return user + nice + system + idle + iowait + irq + times.softirq_seconds_total + times.steal_seconds_total
}
