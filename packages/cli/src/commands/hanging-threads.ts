import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The state of a thread follows its name, which is in brackets and may hold anything. `D` is a call that no signal
 * interrupts: to a disk, or a driver.
 */
const WAITS_FOR_DISK = /\) D [^)]*$/

/**
 * Whether a thread of this process is in a call that nothing can interrupt. An exit waits for all threads, so one that
 * hangs there keeps the process.
 *
 * @param tasks Folder of the kernel with a folder a thread.
 */
export function hasHangingThread(tasks = '/proc/self/task'): boolean {
  return readdirSync(tasks).some((thread) => {
    try {
      return WAITS_FOR_DISK.test(readFileSync(join(tasks, thread, 'stat'), 'latin1'))
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}
