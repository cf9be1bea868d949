import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

/** Whether a process of this Node has the argument, or a part of it. */
export function isRunningUnder(node: string, argument: string): boolean {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.some((id) => {
    try {
      return (
        readlinkSync(`/proc/${id}/exe`) === realpathSync(node) &&
        readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(argument)
      )
    } catch {
      // It has ended meanwhile, or belongs to another user.
      return false
    }
  })
}

/** Ends a process that leads a group, and all that it started: npx starts the command through a shell. */
export function endGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL')
  } catch (error) {
    assert.match(String(error), /ESRCH/)
  }
}
