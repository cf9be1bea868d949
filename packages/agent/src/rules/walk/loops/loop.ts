import type { Column } from '../column.ts'
import type { EdgeList } from '../edge-list.ts'
import type { Falls } from '../falls.ts'

/** What the loop of a rule is made with. */
export interface LoopParts {
  /** Index of the rule. */
  readonly rule: number
  /** Index of its signal. */
  readonly signal: number
  readonly column: Column
  /** Where falls of a counter are noted; undefined if the value may fall, or falls are not followed. */
  readonly falls: Falls | undefined
}

/**
 * The state machine of one rule, walked over stretches of a ring. Hot loops go from word to word with whole numbers of
 * 32 bits, and know the number of a sample only if they need it.
 */
export interface RuleLoop {
  /** Samples before the current one that it looks at. */
  readonly reachSamples: number
  /** Walks samples, none of them missing, which lie one behind the other in the memory of the ring. */
  walk(first: number, end: number, edges: EdgeList): void
  /** Samples are missing before this one. Default: that is nothing to the rule. */
  gap?(sample: number): void
}

/** The words of a whole number of 64 bits: low, high. Negative numbers are taken modulo 2^64. */
export function wordsOf(value: bigint | number): Uint32Array {
  const whole = BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Math.trunc(value)))
  return Uint32Array.of(Number(whole & 0xffff_ffffn), Number(whole >> 32n))
}

/** What a high word counts. */
export const WORD = 2 ** 32
