import type { Column } from './column.ts'
import { wordsOf } from './loops/loop.ts'

/** A limit that values of a column are held against, exactly where they are whole numbers. */
export class Limit {
  readonly #column: Column
  readonly #value: number
  readonly #low: number
  readonly #high: number

  constructor(column: Column, value: bigint | number) {
    this.#column = column
    this.#value = Number(value)
    const words = column.signal.kind === 'u64' ? wordsOf(value) : new Uint32Array(2)
    this.#low = words[0] as number
    this.#high = words[1] as number
  }

  /** Below 0, 0 or above: how the value of a sample stands to it. */
  compare(sample: number): number {
    const column = this.#column
    if (column.signal.kind === 'f64') return column.value(sample) - this.#value
    return column.high(sample) - this.#high || column.low(sample) - this.#low
  }
}
