import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** A user, and a group, that own nothing here. */
export const OTHER_USER = 65_534

/** Options of a test that needs another user. */
export const AS_ROOT = { skip: process.getuid?.() !== 0 && 'only root can be another user' }

/**
 * Runs a script of Node as another user, with `argv[1]` and on what was given, and waits for its first line. It ends
 * with the test.
 */
export async function asOtherUser(
  t: TestContext,
  script: string,
  ...args: readonly string[]
): Promise<{ readonly said: string; readonly child: ChildProcess }> {
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, '--', ...args]
  const child = spawn(process.execPath, flags, {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    ...{ uid: OTHER_USER, gid: OTHER_USER },
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close').then(() => ['nothing'])
  const [said] = await Promise.race([once(child.stdout, 'data'), ended])
  return { said: String(said).trim(), child }
}
