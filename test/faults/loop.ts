import type { Random } from '../../packages/sdk/test/random.ts'

/** A loop that breaks something on purpose, again and again. */
export interface FaultLoop {
  readonly name: string
  /** One sentence: the fault, and the promise that must hold. */
  readonly what: string
  /**
   * Rounds in `npm test`: enough for every kind of fault that there is. `npm run faults` goes on. 0 where a test of its
   * own is the short form, so that `npm test` has nothing to skip.
   */
  readonly testRounds: number
  /** Prepares what all rounds share; the result's `round` throws where something does not hold. */
  open(): Promise<FaultRun>
}

/** A loop that was opened. */
export interface FaultRun {
  round(random: Random, index: number): Promise<void>
  /** Throws where a figure is missed that depends on the speed of the machine: `npm run faults` alone asks. */
  gate?(): void
  /** Ends everything it started; may give a line on what was seen. */
  close(): Promise<string>
  /** More of what was seen, as Markdown that stands below the table of loops. */
  table?(): string
}

/** Of a list, an item for the seed of a round: rounds that follow one another go through all of them. */
export function inTurn<T>({ seed }: Random, list: readonly T[]): T {
  return list[seed % list.length] as T
}

/** Outcome of a loop. */
export interface FaultOutcome {
  readonly name: string
  readonly what: string
  readonly rounds: number
  readonly seed: number
  readonly seconds: number
  readonly seen: string
  /** See `table` of {@link FaultRun}. */
  readonly table?: string
}
