import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

/** The programs that run with an argument that contains a text. */
export function programsWith(argument: string): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.flatMap((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(argument) ? [readlinkSync(`/proc/${id}/exe`)] : []
    } catch {
      // The process has ended meanwhile, or belongs to another user.
      return []
    }
  })
}

/** Whether a Node runs with an argument that contains a text. */
export function isRunningUnder(node: string, argument: string): boolean {
  return programsWith(argument).includes(realpathSync(node))
}

/** Ends a process that leads a group, and all that it started: npx starts the command through a shell. */
export function endGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL')
  } catch (error) {
    assert.match(String(error), /ESRCH/)
  }
}
