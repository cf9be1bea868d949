/** Memory of a ring: sample `s`, counted from the first ever, is at word `(s % capacity) * strideWords`. */
export interface RingMemory {
  readonly words: Uint32Array
  readonly strideWords: number
  /** Capacity in samples. */
  readonly capacity: number
}

/** A ring during a walk. */
export interface WalkedRing extends RingMemory {
  /** The oldest sample that is not overwritten. */
  oldest: number
}

/** Position of a signal in a sample. */
export interface WalkSignal {
  /** Offset of the low word of its value. Unit: words. */
  readonly at: number
  /** Its storage: two words of an unsigned number, or of a double. */
  readonly kind: 'u64' | 'f64'
  /** Whether it only rises, except for resets and wraps. */
  readonly isCounter: boolean
}

/** The word of a signal in a sample. */
export function ringWord({ strideWords, capacity }: RingMemory, sample: number, at: number): number {
  return (sample % capacity) * strideWords + at
}
