import { SAMPLE_1 } from '../../native/doca/layout.ts'

const WORD = 2 ** 32

/** The most and the least of what moves both ways, over the samples of an interval. */
export class Extremes {
  readonly #kinds: readonly ('max' | 'min' | undefined)[]
  /** Which values of a sample are looked at. */
  readonly #places: readonly number[]
  readonly #found = new Map<number, number>()

  /** @param kinds For each value of a sample what is told of it; undefined: the newest. */
  constructor(kinds: readonly ('max' | 'min' | undefined)[]) {
    this.#kinds = kinds
    this.#places = kinds.flatMap((kind, at) => (kind === undefined ? [] : [at]))
  }

  /** Takes samples, so many bytes apart. */
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

  /** What was found of a value; undefined if the newest is told. */
  of(at: number): bigint | undefined {
    const found = this.#found.get(at)
    return found === undefined ? undefined : BigInt(found)
  }

  /** An interval begins. */
  restart(): void {
    this.#found.clear()
  }
}
