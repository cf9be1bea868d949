import { staleAfterMs } from '../state/clock.ts'

/** Samples that are no older are behind, but not missing; with long steps two of them. Unit: milliseconds. */
const BEHIND_MS = 10_000

/**
 * How samples arrive, by the age of the newest and their step: in time, late as the badges of charts say, or not at
 * all. The dot of the top bar is green only while they arrive in time.
 */
export function arrivalOf(lagMs: number, stepMs: number): 'in time' | 'late' | 'missing' {
  if (lagMs <= staleAfterMs(stepMs)) return 'in time'
  return lagMs <= Math.max(BEHIND_MS, 2 * stepMs) ? 'late' : 'missing'
}
