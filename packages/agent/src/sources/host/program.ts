import { type ChildProcess, execFile } from 'node:child_process'
import { Missing } from '../field-absences.ts'

/** A longer output is a failure. Unit: bytes. */
const OUTPUT_BYTES_LIMIT = 1 << 20

/** A program, and how often it is started. */
interface ProgramOptions {
  readonly file: string
  readonly args: readonly string[]
  /** Time between two starts. Unit: milliseconds. */
  readonly everyMs: number
  /** A program that runs for longer is stopped. Unit: milliseconds. */
  readonly limitMs: number
  /** Time before the first start, so that a short life of the agent starts no program. Unit: milliseconds. */
  readonly afterMs: number
}

/** A program that is started now and then. It runs in the background; a sweep reports its last output. */
export class Program<T> {
  readonly #options: ProgramOptions
  readonly #parse: (output: string) => T | Missing
  #nextMs: number
  #child: ChildProcess | undefined
  #answer: T | Missing | undefined

  constructor(options: ProgramOptions, parse: (output: string) => T | Missing) {
    this.#options = options
    this.#parse = parse
    this.#nextMs = performance.now() + options.afterMs
  }

  /** The last answer; undefined before the first. Starts the program when it is due. */
  answer(): T | Missing | undefined {
    if (this.#child === undefined && performance.now() >= this.#nextMs) this.#start()
    return this.#answer
  }

  /** Stops the program. */
  close(): void {
    this.#nextMs = Number.POSITIVE_INFINITY
    this.#child?.kill('SIGKILL')
  }

  #start(): void {
    const { file, args, everyMs, limitMs } = this.#options
    this.#nextMs = performance.now() + everyMs
    // Words of the program are parsed, so they must not depend on the language of the user.
    const env = { ...process.env, LC_ALL: 'C' }
    const limits = { timeout: limitMs, maxBuffer: OUTPUT_BYTES_LIMIT, killSignal: 'SIGKILL' as const }
    this.#child = execFile(file, [...args], { env, ...limits }, (error, stdout, stderr) => {
      this.#child = undefined
      this.#answer = error === null ? this.#parse(stdout) : failureOf(this.#options, error, stderr)
    })
  }
}

function failureOf(
  { file, limitMs }: ProgramOptions,
  error: Error & { code?: unknown; killed?: boolean },
  stderr: string,
): Missing {
  if (error.code === 'ENOENT') return new Missing('unsupported', `the program ${file} is not installed`)
  if (error.code === 'EACCES') return new Missing('denied', `the program ${file} may not be started`)
  if (error.killed === true) return new Missing('failed', `${file} has not ended after ${limitMs} ms`)
  const [line = ''] = stderr.trim().split('\n')
  return new Missing('failed', `${file} failed: ${line || error.message}`.slice(0, 300))
}
