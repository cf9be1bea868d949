import { readFileSync } from 'node:fs'

/**
 * When a process began, in clock ticks since boot; undefined if there is no such process. Numbers of processes are
 * used again; together with this time they are not.
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program, which is in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
