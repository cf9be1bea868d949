import type { Missing } from '../field-absences.ts'
import { type ProgramCall, type RunningProgram, runProgram } from '../run-program.ts'

/** A program, and how often it is started. */
interface ProgramOptions extends ProgramCall {
  /** Time between two starts. Unit: milliseconds. */
  readonly everyMs: number
  /** Time before the first start, so that a short life of the agent starts no program. Unit: milliseconds. */
  readonly afterMs: number
}

/** A program that is started now and then. It runs in the background; a sweep reports its last output. */
export class Program<T> {
  readonly #options: ProgramOptions
  readonly #parse: (output: string) => T | Missing
  #nextMs: number
  #running: RunningProgram | undefined
  #answer: T | Missing | undefined

  constructor(options: ProgramOptions, parse: (output: string) => T | Missing) {
    this.#options = options
    this.#parse = parse
    this.#nextMs = performance.now() + options.afterMs
  }

  /** The last answer; undefined before the first. Starts the program when it is due. */
  answer(): T | Missing | undefined {
    if (this.#running?.hasEnded !== false && performance.now() >= this.#nextMs) this.#start()
    return this.#answer
  }

  /** Stops the program. */
  close(): void {
    this.#nextMs = Number.POSITIVE_INFINITY
    this.#running?.kill()
  }

  #start(): void {
    this.#nextMs = performance.now() + this.#options.everyMs
    this.#running = runProgram(this.#options, (found) => {
      this.#answer = typeof found === 'string' ? this.#parse(found) : found
    })
  }
}
