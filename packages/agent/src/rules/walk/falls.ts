import type { Column } from './column.ts'

/** Below this a counter may be one of 32 bits. */
const NARROW = 2 ** 32
/** It wraps from its last quarter to its first. */
const LAST_QUARTER = 3 * 2 ** 30
const FIRST_QUARTER = 2 ** 30

/** What a counter that is lower than before did; undefined where it is not lower. */
export function fallOf(column: Column, sample: number, before: number): 'reset' | 'wrap' | undefined {
  if (column.compare(sample, before) >= 0) return undefined
  if (column.signal.kind === 'f64') return 'reset'
  const from = column.value(before)
  const isWrap = from >= LAST_QUARTER && from < NARROW && column.value(sample) < FIRST_QUARTER
  return isWrap ? 'wrap' : 'reset'
}

/** The first sample of a stretch that is lower than the one before it; `end` where none is. */
export function firstFall(column: Column, first: number, end: number): number {
  const { ring, signal } = column
  if (signal.kind === 'f64') {
    for (let sample = first; sample < end; sample++) if (column.compare(sample, sample - 1) < 0) return sample
    return end
  }
  const { words, strideWords, capacity } = ring
  let low = column.low(first - 1)
  let high = column.high(first - 1)
  let at = (first % capacity) * strideWords + signal.at
  for (let sample = first; sample < end; sample++, at += strideWords) {
    const nextLow = words[at] as number
    const nextHigh = words[at + 1] as number
    if (nextHigh === high ? nextLow < low : nextHigh < high) return sample
    low = nextLow
    high = nextHigh
  }
  return end
}
