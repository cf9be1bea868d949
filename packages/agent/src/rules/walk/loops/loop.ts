import type { EdgeList } from '../edge-list.ts'
import type { RingMemory, WalkSignal } from '../ring-memory.ts'

/** What the loop of a rule is made with. */
export interface LoopParts {
  /** Index of the rule. */
  readonly rule: number
  readonly ring: RingMemory
  readonly signal: WalkSignal
}

/** The state machine of one rule, walked over stretches of a ring. */
export interface RuleLoop {
  /** Samples before the current one that it looks at. */
  readonly reachSamples: number
  /** Walks samples, none of them missing, which lie one behind the other in the memory of the ring. */
  walk(first: number, end: number, edges: EdgeList): void
  /** Samples are missing before this one. Default: that is nothing to the rule. */
  gap?(sample: number): void
  /** The counter began anew with this sample. Default: that is nothing to the rule. */
  reset?(sample: number): void
  /** The counter went over 2^32 to this sample. Default: that is nothing to the rule. */
  wrap?(sample: number): void
}

/** The words of a whole number of 64 bits: low, high. Negative numbers are taken modulo 2^64. */
export function wordsOf(value: bigint | number): Uint32Array {
  const whole = BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Math.trunc(value)))
  return Uint32Array.of(Number(whole & 0xffff_ffffn), Number(whole >> 32n))
}

/** The value of a word of 64 bits and of what precedes it, as a number. */
export const WORD = 2 ** 32
