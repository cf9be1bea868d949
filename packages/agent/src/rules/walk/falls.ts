import type { Column } from './column.ts'

/** Below this a counter may be one of 32 bits. */
const NARROW = 2 ** 32
/** It wraps from its last quarter to its first. */
const LAST_QUARTER = 3 * 2 ** 30
const FIRST_QUARTER = 2 ** 30
/** Falls that are noted until somebody takes them. */
const FALLS_MAX = 64

/** A counter that became lower. */
export interface Fall {
  readonly signal: number
  readonly sample: number
  readonly kind: 'reset' | 'wrap'
}

/** What a counter that is lower than before did; undefined if it is not lower. */
export function fallOf(column: Column, sample: number, before: number): Fall['kind'] | undefined {
  if (column.compare(sample, before) >= 0) return undefined
  if (column.signal.kind === 'f64') return 'reset'
  const from = column.value(before)
  const isWrap = from >= LAST_QUARTER && from < NARROW && column.value(sample) < FIRST_QUARTER
  return isWrap ? 'wrap' : 'reset'
}

/** Falls of the counters of a ring. Several rules see the same. */
export class Falls {
  /** Those that were not noted, for there were too many. */
  leftOut = 0
  #falls: Fall[] = []

  note(fall: Fall): void {
    if (this.#falls.some(({ signal, sample }) => signal === fall.signal && sample === fall.sample)) return
    if (this.#falls.length < FALLS_MAX) this.#falls.push(fall)
    else this.leftOut++
  }

  /** Those since this was asked before. */
  take(): readonly Fall[] {
    const falls = this.#falls
    if (falls.length > 0) this.#falls = []
    return falls
  }
}
