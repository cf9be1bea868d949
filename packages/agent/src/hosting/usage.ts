import { readFileSync } from 'node:fs'

/** Resource usage of a process. */
export interface Usage {
  /** Resident memory, shared memory included. Unit: bytes. */
  readonly residentBytes: number
  /** Processor time since its start, user and system. */
  readonly cpuSeconds: number
}

/** The kernel counts processor time in these; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
const BYTES_PER_KILOBYTE = 1024

/** What a process of ours uses, as the kernel tells; undefined if it ended. */
export function usageOf(pid: number): Usage | undefined {
  try {
    // The name of the program, in brackets, may hold blanks: user and system time are the 12th and 13th field behind
    // it.
    const [, fields = ''] = /^.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const [user, system] = fields.split(' ').slice(11, 13).map(Number)
    const resident = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    if (user === undefined || system === undefined || resident === undefined) return undefined
    return { residentBytes: Number(resident) * BYTES_PER_KILOBYTE, cpuSeconds: (user + system) / TICKS_PER_SECOND }
  } catch {
    // It ended between two reads, or before: there is nothing to tell of it.
    return undefined
  }
}
