/** Memory of a ring: sample `s`, counted from the first ever, lies at word `(s % capacity) * strideWords`. */
export interface RingMemory {
  readonly words: Uint32Array
  readonly strideWords: number
  /** Samples that it holds. */
  readonly capacity: number
}

/** A ring that is walked. */
export interface WalkedRing extends RingMemory {
  /** The oldest sample whose memory no newer one has taken. */
  oldest: number
}

/** Where a signal lies in a sample. */
export interface WalkSignal {
  /** Offset of the low word of its value. Unit: words. */
  readonly at: number
  /** How it is stored: as two words of an unsigned number, or of a double. */
  readonly kind: 'u64' | 'f64'
  /** Whether it only rises, but for resets and wraps. */
  readonly isCounter: boolean
}

/** The word of a signal in a sample. */
export function wordOf({ strideWords, capacity }: RingMemory, sample: number, at: number): number {
  return (sample % capacity) * strideWords + at
}
