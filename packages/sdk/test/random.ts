/** Where the random numbers of a test start: the same in every run, unless `SONDE_SEED` is another whole number. */
export const SEED = Number(process.env.SONDE_SEED ?? 1)
if (!Number.isSafeInteger(SEED)) throw new Error(`SONDE_SEED=${process.env.SONDE_SEED} is not a whole number`)

/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  readonly seed: number
  #state: number

  constructor(seed: number) {
    this.seed = seed
    this.#state = seed | 0
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number; both bounds may come. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(from: readonly T[]): T {
    return from[this.integer(0, from.length - 1)] as T
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.integer(0, 255)))
  }

  /** 64 random bits. */
  bits64(): bigint {
    return (BigInt(this.integer(0, 0xffffffff)) << 32n) | BigInt(this.integer(0, 0xffffffff))
  }
}
