import { readFileSync } from 'node:fs'

/** The usual limit of POSIX systems. */
const USUAL_COUNT = 1024

/** How many descriptors this process may have open; a usual number where the kernel does not tell. */
export function openFilesLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? USUAL_COUNT : Number(soft)
  } catch {
    // No procfs here: a container without one.
    return USUAL_COUNT
  }
}
