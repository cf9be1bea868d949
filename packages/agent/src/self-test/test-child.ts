import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { SELF_TEST_MODULE } from '../places.ts'
import { FairLimit } from '../processor/fair-limit.ts'
import { readingsOf } from '../processor/readings.ts'
import type { FromTest, Planned, TestPlan } from './protocol.ts'

/** The library is loaded and devices are listed in this time. Unit: milliseconds. */
const START_LIMIT_MS = 10_000
/** As a host of sources: a call that hangs keeps its thread. */
const POOL_THREADS = '16'

/** How a child ended: at the end of its plan or of the time, or broken. */
export type ChildEnd =
  | { readonly state: 'ended' }
  /** `at` is undefined if no check had begun. */
  | { readonly state: 'broken'; readonly at: Planned | undefined; readonly why: string }

/** Limits and callbacks of {@link runTestChild}. */
export interface TestChildOptions {
  /** Longest time of one check. Unit: milliseconds. */
  readonly checkLimitMs: number
  /** Longest time of the child. Unit: milliseconds. */
  readonly wholeLimitMs: number
  readonly onMessage: (message: FromTest) => void
}

/** Runs a child process that makes the checks of a plan. Only this child loads the library of a vendor. */
export function runTestChild(
  plan: TestPlan,
  { checkLimitMs, wholeLimitMs, onMessage }: TestChildOptions,
): Promise<ChildEnd> {
  const { promise, resolve } = Promise.withResolvers<ChildEnd>()
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(SELF_TEST_MODULE)], {
    // The library of a vendor may write to its outputs.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, UV_THREADPOOL_SIZE: POOL_THREADS },
  })
  let at: Planned | undefined
  let why: string | undefined
  let isOver = false
  const end = (reason: string) => {
    why = reason
    child.kill('SIGKILL')
  }
  const limit = new FairLimit({
    limitMs: START_LIMIT_MS,
    read: () => readingsOf({ pid: child.pid ?? process.pid }),
    onOver: () => end(`no answer within ${(at === undefined ? START_LIMIT_MS : checkLimitMs) / 1000} s`),
    // A busy machine proves nothing: the limit of the whole test holds.
    onShort: () => undefined,
  })
  const finish = () => {
    isOver = true
    child.kill('SIGKILL')
  }
  const whole = setTimeout(finish, Math.max(0, wholeLimitMs))
  child.on('message', (message: FromTest) => {
    if (message.kind === 'begun') {
      at = { check: message.check, device: message.device }
      limit.restart(checkLimitMs)
    }
    if (message.kind === 'broken') end(message.reason)
    else if (message.kind === 'ended') finish()
    else onMessage(message)
  })
  const settle = (reason: string) => {
    limit.stop()
    clearTimeout(whole)
    resolve(isOver ? { state: 'ended' } : { state: 'broken', at, why: why ?? reason })
  }
  child.once('error', ({ message }) => settle(message))
  child.once('exit', (code, signal) => settle(`the process ended with ${signal ?? `code ${code}`}`))
  child.send(plan)
  return promise
}
