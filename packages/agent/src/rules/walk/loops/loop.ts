import type { RingColumn } from '../column.ts'
import type { EdgeList } from '../edge-list.ts'
import type { Falls } from '../falls.ts'

/** Parts of every rule's loop. */
export interface LoopParts {
  /** Index of the rule. */
  readonly rule: number
  /** Index of its signal. */
  readonly signal: number
  readonly column: RingColumn
  /** Collects the falls of a counter; undefined if the value may fall, or falls are ignored. */
  readonly falls: Falls | undefined
}

/**
 * The state machine of one rule, walked over stretches of a ring. Hot loops step from word to word with whole numbers
 * of 32 bits, and compute sample numbers only when needed.
 */
export interface RuleLoop {
  /** Samples before the current sample that it reads. */
  readonly reachSamples: number
  /** Walks samples without gaps. Their memory in the ring must be contiguous. */
  walk(first: number, end: number, edges: EdgeList): void
  /** Samples are missing before this sample. Default: ignored. */
  gap?(sample: number): void
}

/** The words of a whole number of 64 bits: low, high. Negative numbers are converted modulo 2^64. */
export function u64Words(value: bigint | number): Uint32Array {
  const whole = BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Math.trunc(value)))
  return Uint32Array.of(Number(whole & 0xffff_ffffn), Number(whole >> 32n))
}

/** Weight of the high word. */
export const WORD = 2 ** 32
