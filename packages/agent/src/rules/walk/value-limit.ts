import type { RingColumn } from './column.ts'
import { u64Words } from './loops/loop.ts'

/** A limit for the values of a column. The comparison is exact for whole numbers. */
export class ValueLimit {
  readonly #column: RingColumn
  readonly #value: number
  /** Whether the limit is a whole number that a value can have: then both words are compared. */
  readonly #isExact: boolean
  readonly #low: number
  readonly #high: number

  constructor(column: RingColumn, value: bigint | number) {
    this.#column = column
    this.#value = Number(value)
    this.#isExact = column.signal.kind === 'u64' && isUnsignedWhole(value)
    const words = this.#isExact ? u64Words(value) : new Uint32Array(2)
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
export function isUnsignedWhole(value: bigint | number): boolean {
  return typeof value === 'bigint' ? value >= 0n : Number.isInteger(value) && value >= 0
}
