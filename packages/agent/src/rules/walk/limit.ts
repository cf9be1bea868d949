import type { Column } from './column.ts'
import { wordsOf } from './loops/loop.ts'

/** A limit that values of a column are held against, exactly where they are whole numbers. */
export class Limit {
  readonly #column: Column
  readonly #value: number
  /** Whether it is a whole number that a value can be: then both words are compared. */
  readonly #isExact: boolean
  readonly #low: number
  readonly #high: number

  constructor(column: Column, value: bigint | number) {
    this.#column = column
    this.#value = Number(value)
    this.#isExact = column.signal.kind === 'u64' && isWhole(value)
    const words = this.#isExact ? wordsOf(value) : new Uint32Array(2)
    this.#low = words[0] as number
    this.#high = words[1] as number
  }

  /** Below 0, 0 or above: how the value of a sample stands to it. */
  compare(sample: number): number {
    const column = this.#column
    if (!this.#isExact) return column.value(sample) - this.#value
    return column.high(sample) - this.#high || column.low(sample) - this.#low
  }
}

/** Whether a limit is a number that an unsigned value of 64 bits can have. */
export function isWhole(value: bigint | number): boolean {
  return typeof value === 'bigint' ? value >= 0n : Number.isInteger(value) && value >= 0
}
