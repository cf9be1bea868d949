import { SAMPLE_1 } from '../../native/doca/layout.ts'

const WORD = 2 ** 32

/** Highest or lowest values of gauges over the samples of an interval. */
export class Extremes {
  readonly #kinds: readonly ('max' | 'min' | undefined)[]
  /** Indexes of the values that have an extreme. */
  readonly #places: readonly number[]
  readonly #found = new Map<number, number>()

  /** @param kinds The extreme of each value of a sample; undefined if the newest value is reported. */
  constructor(kinds: readonly ('max' | 'min' | undefined)[]) {
    this.#kinds = kinds
    this.#places = kinds.flatMap((kind, at) => (kind === undefined ? [] : [at]))
  }

  /** Takes samples that are `sampleBytes` apart. */
  take(samples: DataView, count: number, sampleBytes: number): void {
    for (const place of this.#places) {
      const isMax = this.#kinds[place] === 'max'
      let found = this.#found.get(place)
      for (let index = 0; index < count; index++) {
        const at = index * sampleBytes + SAMPLE_1.values + place * SAMPLE_1.valueBytes
        const value = samples.getUint32(at + 4, true) * WORD + samples.getUint32(at, true)
        if (found === undefined || (isMax ? value > found : value < found)) found = value
      }
      if (found !== undefined) this.#found.set(place, found)
    }
  }

  /** Returns the extreme of a value; undefined if the newest value is reported. */
  of(at: number): bigint | undefined {
    const found = this.#found.get(at)
    return found === undefined ? undefined : BigInt(found)
  }

  /** Starts an interval. */
  restart(): void {
    this.#found.clear()
  }
}
