import type { RingMemory } from '../../rules/walk/ring-memory.ts'

/** Words of a sample before its values; each u64 is a low word and a high word. */
const HEAD_WORDS = 8
const WORD = 2 ** 32

/** Offsets within a sample of a {@link DeviceRing}. Unit: words. */
export const SAMPLE_AT = {
  /** Nanoseconds since the epoch, by the clock of the device, or by the host's where the device has only ticks. */
  time: 0,
  /** The stamp as the reference application makes it: high word of the earliest value, low word of the latest. */
  raw: 2,
  /** Nanoseconds since the epoch, by the host's clock, when it was read. */
  wall: 4,
  /** Number of the sample, as the device counts them. */
  id: 6,
  /** 1: samples before it were skipped. */
  flags: 7,
  values: HEAD_WORDS,
} as const

/** The latest samples of one device, as rules walk them. Its memory is taken at the start. */
export class DeviceRing implements RingMemory {
  readonly words: Uint32Array
  readonly strideWords: number
  readonly capacity: number
  readonly valueCount: number
  /** Samples that it was ever given. */
  total = 0

  /**
   * @param valueCount Values of a sample. Range: 1 to 1024.
   * @param capacity Samples that it holds.
   */
  constructor(valueCount: number, capacity: number) {
    this.valueCount = valueCount
    this.capacity = capacity
    this.strideWords = HEAD_WORDS + 2 * valueCount
    this.words = new Uint32Array(capacity * this.strideWords)
  }

  /** Makes room for the next sample. Returns where it begins; its words are those of an old one until they are set. */
  push(): number {
    return (this.total++ % this.capacity) * this.strideWords
  }

  /** The oldest sample that it holds. */
  get oldest(): number {
    return Math.max(0, this.total - this.capacity)
  }

  /** Where a sample begins. Unit: words. */
  wordAt(sample: number): number {
    return (sample % this.capacity) * this.strideWords
  }

  /** 64 bits of a sample: those at an offset of {@link SAMPLE_AT}. */
  big(sample: number, at: number): bigint {
    const word = this.wordAt(sample) + at
    return (BigInt(this.words[word + 1] as number) << 32n) | BigInt(this.words[word] as number)
  }

  /** A value in decimal. */
  valueText(sample: number, value: number): string {
    const word = this.wordAt(sample) + HEAD_WORDS + 2 * value
    const high = this.words[word + 1] as number
    const low = this.words[word] as number
    // Below 2^53 a double is exact, and many times faster than a bigint.
    return high < 0x20_0000 ? String(high * WORD + low) : String((BigInt(high) << 32n) | BigInt(low))
  }
}
