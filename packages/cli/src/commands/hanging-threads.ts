import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The state of a thread follows its name, which is in brackets and may hold any characters. `D` is a call to a disk or
 * a driver that no signal interrupts.
 */
const WAITS_FOR_DISK = /\) D [^)]*$/

/**
 * Whether a thread of this process is in a call that nothing can interrupt. An exit waits for all threads, so such a
 * thread keeps the process alive.
 *
 * @param tasks Folder of the kernel with one folder for each thread.
 */
export function hasHangingThread(tasks = '/proc/self/task'): boolean {
  return readdirSync(tasks).some((thread) => {
    try {
      return WAITS_FOR_DISK.test(readFileSync(join(tasks, thread, 'stat'), 'latin1'))
    } catch {
      // The thread has ended meanwhile.
      return false
    }
  })
}
