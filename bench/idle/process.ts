import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type Usage, usageOf } from '../../packages/agent/src/hosting/usage.ts'

/** How {@link startMeasured} starts a program. */
export interface StartOptions {
  /** Text of its output that shows that it is ready. */
  readonly ready?: RegExp
  /** Variables that are added. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program, and waits until it is ready. */
export async function startMeasured(
  program: string,
  args: readonly string[],
  { ready, env = {} }: StartOptions = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SONDE_CONFIG: '', ...env },
  })
  let text = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      text += chunk.toString()
      if (ready?.test(text) === true) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)))
    if (ready === undefined) child.once('spawn', resolve)
  })
  return child
}

/** Process ids of the running children of a process. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

/** The usage of a process, which must be running. */
export function usedBy(pid: number): Usage {
  const usage = usageOf(pid)
  if (usage === undefined) throw new Error(`process ${pid} ended while it was measured`)
  return usage
}
