import type { Random } from '../../packages/sdk/test/random.ts'

/** A loop that breaks something on purpose, again and again. */
export interface FaultLoop {
  readonly name: string
  /** What is broken, and what must hold, in one sentence. */
  readonly what: string
  /** Prepares what all rounds share; the result's `round` throws where something does not hold. */
  open(): Promise<FaultRun>
}

/** A loop that was opened. */
export interface FaultRun {
  round(random: Random, index: number): Promise<void>
  /** Ends everything it started; may give a line on what was seen. */
  close(): Promise<string>
}

/** Outcome of a loop. */
export interface FaultOutcome {
  readonly name: string
  readonly what: string
  readonly rounds: number
  readonly seed: number
  readonly seconds: number
  readonly seen: string
}
