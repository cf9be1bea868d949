import { ringWord, type WalkedRing, type WalkSignal } from './ring-memory.ts'

const doubles = new Float64Array(1)
const halves = new Uint32Array(doubles.buffer)
const WORD = 2 ** 32

/** One signal of a ring, sample by sample. It serves the rules without a loop of their own. */
export class RingColumn {
  readonly ring: WalkedRing
  readonly signal: WalkSignal

  constructor(ring: WalkedRing, signal: WalkSignal) {
    this.ring = ring
    this.signal = signal
  }

  /** The low word. */
  low(sample: number): number {
    return this.ring.words[ringWord(this.ring, sample, this.signal.at)] as number
  }

  /** The high word. */
  high(sample: number): number {
    return this.ring.words[ringWord(this.ring, sample, this.signal.at) + 1] as number
  }

  /** The value; a whole number above 2^53 is rounded. */
  value(sample: number): number {
    if (this.signal.kind === 'u64') return this.high(sample) * WORD + this.low(sample)
    halves[0] = this.low(sample)
    halves[1] = this.high(sample)
    return doubles[0] as number
  }

  /**
   * The value of a sample minus an earlier value. The difference is exact below 2^53, even if both values are larger.
   */
  difference(sample: number, past: number): number {
    if (this.signal.kind === 'f64') return this.value(sample) - this.value(past)
    return (this.high(sample) - this.high(past)) * WORD + (this.low(sample) - this.low(past))
  }

  /** Compares a value with that of another sample: below 0, 0 or above 0. */
  compare(sample: number, other: number): number {
    if (this.signal.kind === 'f64') return this.value(sample) - this.value(other)
    return this.high(sample) - this.high(other) || this.low(sample) - this.low(other)
  }

  /** Whether the words are the same. */
  isSame(sample: number, other: number): boolean {
    return this.low(sample) === this.low(other) && this.high(sample) === this.high(other)
  }
}
