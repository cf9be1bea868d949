import type { RingMemory } from '../../rules/walk/ring-memory.ts'

/** Words of a sample before its values. Each u64 has a low word and a high word. */
const HEAD_WORDS = 8
const WORD = 2 ** 32

/** Offsets within a sample of a {@link DeviceRing}. Unit: words. */
export const SAMPLE_AT = {
  /** Nanoseconds since the epoch, by the device's clock, or by the host's clock if the device only has ticks. */
  time: 0,
  /** The time stamp of the reference application: high word of the earliest value, low word of the latest. */
  raw: 2,
  /** When it was read, by the host's clock. Nanoseconds since the epoch. */
  wall: 4,
  /** The device's number of the sample. */
  id: 6,
  /** 1: samples before this sample were skipped. */
  flags: 7,
  values: HEAD_WORDS,
} as const

/** The latest samples of one device, in the form that rules walk. Its memory is allocated at the start. */
export class DeviceRing implements RingMemory {
  readonly words: Uint32Array
  readonly strideWords: number
  readonly capacity: number
  readonly valueCount: number
  /** Number of samples that were ever added. */
  total = 0

  /**
   * @param valueCount Values of a sample. Range: 1 to 1024.
   * @param capacity Capacity in samples.
   */
  constructor(valueCount: number, capacity: number) {
    this.valueCount = valueCount
    this.capacity = capacity
    this.strideWords = HEAD_WORDS + 2 * valueCount
    this.words = new Uint32Array(capacity * this.strideWords)
  }

  /** Adds a sample. Returns the offset of its first word; the words keep old values until they are set. */
  push(): number {
    return (this.total++ % this.capacity) * this.strideWords
  }

  /** Number of the oldest sample in the ring. */
  get oldest(): number {
    return Math.max(0, this.total - this.capacity)
  }

  /** Offset of a sample. Unit: words. */
  wordAt(sample: number): number {
    return (sample % this.capacity) * this.strideWords
  }

  /** 64 bits of a sample, at an offset of {@link SAMPLE_AT}. */
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
