import { type ChildProcess, spawn } from 'node:child_process'
import { Missing } from './field-absences.ts'

/** A program with a longer output is killed. Unit: bytes. */
const OUTPUT_BYTES_LIMIT = 1 << 20

/** A program, and how long it may run. */
export interface ProgramCall {
  readonly file: string
  readonly args: readonly string[]
  /** A program that runs for longer is killed. Unit: milliseconds. */
  readonly limitMs: number
  /** Explains the first line of a refusal. Default: the answer has failed, with this line. */
  readonly refusal?: (line: string) => Missing | undefined
}

/** A program that was started. */
export interface RunningProgram {
  /** Whether its process has ended. A process that waits for a driver does not end when it is killed. */
  readonly hasEnded: boolean
  kill(): void
}

/**
 * Starts a program and calls `done` once: with its output, or with the reason why there is none. A program that is
 * killed takes along what it has started: it may be a script.
 */
export function runProgram(call: ProgramCall, done: (answer: string | Missing) => void): RunningProgram {
  const { file, args, limitMs } = call
  let [hasEnded, isAnswered] = [false, false]
  const answer = (found: string | Missing): void => {
    clearTimeout(timer)
    if (!isAnswered) done(found)
    isAnswered = true
  }
  // Words of the program are parsed, so they must not depend on the language of the user.
  const env = { ...process.env, LC_ALL: 'C' }
  // A group of its own can be killed as a whole.
  const child = spawn(file, [...args], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const fail = (reason: string): void => {
    killGroup(child)
    answer(new Missing('failed', `${file} ${reason}`))
  }
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = []
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > OUTPUT_BYTES_LIMIT) fail(`printed more than ${OUTPUT_BYTES_LIMIT} bytes`)
      else chunks.push(chunk)
    })
    stream.on('error', () => undefined)
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  child.once('error', (error) => {
    hasEnded = true
    answer(failureOf(call, error, ''))
  })
  child.once('exit', () => {
    hasEnded = true
  })
  child.once('close', (code, signal) => {
    const reason = signal === null ? `exit code ${code}` : `ended by ${signal}`
    answer(code === 0 ? stdout() : failureOf(call, new Error(reason), stderr()))
  })
  const timer = setTimeout(() => fail(`has not ended after ${limitMs} ms`), limitMs)
  return {
    get hasEnded() {
      return hasEnded
    },
    kill: () => killGroup(child),
  }
}

/** Kills a program and what it has started, and reads no more of their output. */
function killGroup(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

function failureOf({ file, refusal }: ProgramCall, error: Error & { code?: unknown }, stderr: string): Missing {
  if (error.code === 'ENOENT') return new Missing('unsupported', `the program ${file} is not installed`)
  if (error.code === 'EACCES') return new Missing('denied', `the program ${file} may not be started`)
  const [line = ''] = stderr.trim().split('\n')
  return refusal?.(line) ?? new Missing('failed', `${file} failed: ${line || error.message}`.slice(0, 300))
}
