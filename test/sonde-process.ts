import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMALL_FLAGS } from '../packages/cli/src/restart-small.ts'
import { builtForm, SONDE, SONDE_MAIN } from './sonde-program.ts'

/** A `sonde` that a test started. */
export interface SondeProcess {
  readonly child: ChildProcess
  /** Where it listens, from its ready line. */
  readonly address: string
  /** Everything it wrote so far. */
  output(): string
  /** Ends it with a signal and waits. Resolves with its exit code, or the signal's name. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

/** The exit code and the output of a `sonde` that has ended. */
export interface SondeEnd {
  readonly code: number | string
  readonly output: string
}

/** Options of {@link startSonde}. */
export interface StartOptions {
  /** Program with arguments that starts it in its own place, such as `nohup`. */
  readonly under?: readonly string[]
  /** File to run instead of the command's own. */
  readonly main?: string
  /**
   * Whether `up` and `agent` restart themselves with limits of memory, as they do for users. Default: false, because
   * the restart, and page faults under these limits, take a third of the processor time of a start.
   */
  readonly restarts?: boolean
  /**
   * Variables that are added; undefined takes one away. Without `SONDE_CONFIG` there is no configuration file, and
   * without `SONDE_SERVICE_ENABLED` no service: those of tests that run beside one another would have one folder of
   * sockets. Without `XDG_STATE_HOME` what it keeps goes with it, for the same reason.
   */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const START_LIMIT_MS = 120_000
/** The first and the longest pause between two looks of {@link until}. */
const LOOK_MS = { first: 25, longest: 100 } as const

function launch(
  args: readonly string[],
  { under = [], main = SONDE_MAIN, restarts = false, env = {} }: StartOptions,
): { child: ChildProcess; output: () => string; ended: Promise<number | string> } {
  const flags = restarts ? [] : SMALL_FLAGS
  const [program = '', ...words] = [...under, ...SONDE.slice(0, -1), ...flags, builtForm(main), ...args]
  const state = temporaryDir()
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SONDE_CONFIG: '', SONDE_SERVICE_ENABLED: 'false', XDG_STATE_HOME: state.path, ...env },
  })
  let text = ''
  const gather = (chunk: Buffer) => {
    text += chunk.toString()
  }
  child.stdout?.on('data', gather)
  child.stderr?.on('data', gather)
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => {
      state.remove()
      resolve(signal ?? code ?? -1)
    }),
  )
  return { child, output: () => text, ended }
}

/** Starts `sonde` on a free port and waits for its ready line. */
export async function startSonde(args: readonly string[], options: StartOptions = {}): Promise<SondeProcess> {
  const listen = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']
  // A past takes as much processor time as some tests.
  const hasPast = args[0] === 'up' && args.includes('--only-simulated') && !args.includes('--simulate-past')
  const { child, output, ended } = launch([...args, ...listen, ...(hasPast ? ['--simulate-past', '0'] : [])], options)
  const address = await until(`the ready line of sonde ${args.join(' ')}`, START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`sonde ended with ${child.exitCode}:\n${output()}`)
    return /ready on (https?:\S+)/.exec(output())?.[1]
  }).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    child,
    address,
    output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs `sonde` to its end. */
export async function runSonde(args: readonly string[], options: StartOptions = {}): Promise<SondeEnd> {
  const { child, output, ended } = launch(args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS)
  const code = await ended
  clearTimeout(timer)
  return { code, output: output() }
}

/**
 * Process ids of the children in which sources ran, in order, those that ended too: what a log of level `debug` says.
 */
export function childrenOf({ output }: SondeProcess): number[] {
  return [...output().matchAll(/"child":(\d+)/g)].map(([, pid]) => Number(pid))
}

/** Names of the threads of a process. */
export function threadsOf(pid = 0): string[] {
  return readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim())
}

/** Whether a process is there; one that ended and that nobody asked for is not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Ends it; fails unless that went well and left no child behind. A process that takes longer than its limit of 5 s
 * kills itself, and has not ended well. Returns how long it took. Unit: milliseconds.
 */
export async function assertStops(sonde: SondeProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const startMs = performance.now()
  const end = await sonde.stop(signal)
  const tookMs = performance.now() - startMs
  assert.equal(end, 0, sonde.output())
  assert.deepEqual(childrenOf(sonde).filter(isRunning), [], 'a child is left')
  return tookMs
}

/**
 * Waits until `look` returns a value, and fails with the name of the awaited state, which may include the last look.
 * The pauses grow, because a look takes processor time that the awaited process needs.
 */
export async function until<T>(
  what: string | (() => string),
  limitMs: number,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadlineMs = Date.now() + limitMs
  for (let pauseMs: number = LOOK_MS.first; ; pauseMs = Math.min(pauseMs * 1.25, LOOK_MS.longest)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadlineMs)
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** A fresh directory that is removed by `remove`, although a process may still write into it. */
export function temporaryDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'sonde-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) }
}
