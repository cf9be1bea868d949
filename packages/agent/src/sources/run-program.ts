import { execFile } from 'node:child_process'
import { Missing } from './field-absences.ts'

/** A longer output is a failure. Unit: bytes. */
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

/** Starts a program and calls `done` once: with its output, or with the reason why there is none. */
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
  const options = { env, maxBuffer: OUTPUT_BYTES_LIMIT, killSignal: 'SIGKILL' as const }
  const child = execFile(file, [...args], options, (error, stdout, stderr) => {
    hasEnded = true
    answer(error === null ? stdout : failureOf(call, error, stderr))
  })
  child.once('exit', () => {
    hasEnded = true
  })
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    answer(new Missing('failed', `${file} has not ended after ${limitMs} ms`))
  }, limitMs)
  return {
    get hasEnded() {
      return hasEnded
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function failureOf({ file, refusal }: ProgramCall, error: Error & { code?: unknown }, stderr: string): Missing {
  if (error.code === 'ENOENT') return new Missing('unsupported', `the program ${file} is not installed`)
  if (error.code === 'EACCES') return new Missing('denied', `the program ${file} may not be started`)
  const [line = ''] = stderr.trim().split('\n')
  return refusal?.(line) ?? new Missing('failed', `${file} failed: ${line || error.message}`.slice(0, 300))
}
