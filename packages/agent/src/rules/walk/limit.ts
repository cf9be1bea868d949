import type { Column } from './column.ts'
import { wordsOf } from './loops/loop.ts'

/** A limit for the values of a column. The comparison is exact for whole numbers. */
export class Limit {
  readonly #column: Column
  readonly #value: number
  /** Whether the limit is a whole number that a value can have: then both words are compared. */
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

  /** Compares the value of a sample with the limit: below 0, 0 or above 0. */
  compare(sample: number): number {
    const column = this.#column
    if (!this.#isExact) return column.value(sample) - this.#value
    return column.high(sample) - this.#high || column.low(sample) - this.#low
  }
}

/** Whether a limit is in the range of unsigned values of 64 bits. */
export function isWhole(value: bigint | number): boolean {
  return typeof value === 'bigint' ? value >= 0n : Number.isInteger(value) && value >= 0
}
