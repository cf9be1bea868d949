import type { RingColumn } from './column.ts'

/** Below this value a counter may have 32 bits. */
const NARROW = 2 ** 32
/** A wrap goes from the last quarter to the first quarter. */
const LAST_QUARTER = 3 * 2 ** 30
const FIRST_QUARTER = 2 ** 30
/** Most falls that are kept until they are read. */
const FALLS_MAX = 64

/** A counter that became lower. */
export interface Fall {
  readonly signal: number
  readonly sample: number
  readonly kind: 'reset' | 'wrap'
}

/** Classifies a fall of a counter; undefined if the counter is not lower than before. */
export function counterFall(column: RingColumn, sample: number, before: number): Fall['kind'] | undefined {
  if (column.compare(sample, before) >= 0) return undefined
  if (column.signal.kind === 'f64') return 'reset'
  const from = column.value(before)
  const isWrap = from >= LAST_QUARTER && from < NARROW && column.value(sample) < FIRST_QUARTER
  return isWrap ? 'wrap' : 'reset'
}

/** Falls of the counters of a ring. Several rules may note the same fall. */
export class Falls {
  /** Falls beyond the limit. */
  leftOut = 0
  #falls: Fall[] = []

  note(fall: Fall): void {
    if (this.#falls.some(({ signal, sample }) => signal === fall.signal && sample === fall.sample)) return
    if (this.#falls.length < FALLS_MAX) this.#falls.push(fall)
    else this.leftOut++
  }

  /** Returns the falls since the last call. */
  take(): readonly Fall[] {
    const falls = this.#falls
    if (falls.length > 0) this.#falls = []
    return falls
  }
}
