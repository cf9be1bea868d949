/** A device or value without a report for this many periods is gone or unknown. */
const OVER_PERIODS = 3
/** A period is taken to be no shorter. Unit: milliseconds. */
const PERIOD_MIN_MS = 2000
/** The initial period if no source declares it. Unit: milliseconds. */
const PERIOD_UNSAID_MS = 30_000
/** A period that no source says shrinks by this at each report that comes sooner. */
const SHRINK = 0.75

/** Reports of one sample come within this time. Unit: milliseconds. */
export const SAMPLE_MS = 100

/** When something was last reported, and how often it is. */
export interface Sighting {
  /** On the clock of `arrivedMs` of batches. */
  arrivedMs: number
  periodMs: number
}

/** Of something that was never reported. */
export function unseen(): Sighting {
  return { arrivedMs: Number.NEGATIVE_INFINITY, periodMs: PERIOD_UNSAID_MS }
}

/**
 * Notes a report. Where its source does not say how often it reports (`periodMs` is 0), the period is the longest of
 * the last distances: a sample may come in two batches, and two sources may report the same thing in turns.
 */
export function see(sighting: Sighting, arrivedMs: number, periodMs: number): void {
  const apartMs = arrivedMs - sighting.arrivedMs
  if (periodMs > 0) sighting.periodMs = Math.max(PERIOD_MIN_MS, periodMs)
  else if (apartMs > 0 && Number.isFinite(apartMs)) {
    sighting.periodMs = Math.max(PERIOD_MIN_MS, apartMs, sighting.periodMs * SHRINK)
  }
  sighting.arrivedMs = arrivedMs
}

/** Whether three periods said nothing of it. */
export function isOver({ arrivedMs, periodMs }: Sighting, nowMs: number): boolean {
  return nowMs - arrivedMs > periodMs * OVER_PERIODS
}
