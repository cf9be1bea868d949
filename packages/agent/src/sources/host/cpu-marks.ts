import type { HostStat } from './parse.ts'

/** Times of one CPU. */
type CpuTimes = HostStat['cpus'][number]

/** The highest times of a CPU, and its time as a whole when it was last read: the kernel moves time between modes. */
interface Mark {
  readonly times: CpuTimes
  readonly totalS: number
}

/** A CPU whose time as a whole fell by more has begun anew. Unit: seconds. */
const FALL_MAX_S = 3

/**
 * The highest times of each CPU so far. The kernel adds the sleep of an idle CPU to idle or iowait as it is asked, by
 * whether a task waits for a disk at that moment, and hypervisors take steal back: then a time is lower than it was. As
 * a counter it would have begun anew, and its rate would be all that it ever counted.
 */
export class CpuMarks {
  #marks = new Map<string, Mark>()
  #next = new Map<string, Mark>()

  /** The times of a CPU, none of them lower than before, unless the CPU has begun to count anew. */
  raise(times: CpuTimes): CpuTimes {
    const before = this.#marks.get(times.cpu)
    const totalS = totalOf(times)
    const isAnew = before === undefined || totalS < before.totalS - FALL_MAX_S
    const raised = isAnew ? times : highest(times, before.times)
    this.#next.set(times.cpu, { times: raised, totalS })
    return raised
  }

  /** Ends a sweep that has met every CPU: one that went offline begins anew when it returns. */
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

/** Time of a CPU as a whole; that of guests is part of user and nice. */
function totalOf(times: CpuTimes): number {
  const { user_seconds_total: user, nice_seconds_total: nice, system_seconds_total: system } = times
  const { idle_seconds_total: idle, iowait_seconds_total: iowait, irq_seconds_total: irq } = times
  return user + nice + system + idle + iowait + irq + times.softirq_seconds_total + times.steal_seconds_total
}
