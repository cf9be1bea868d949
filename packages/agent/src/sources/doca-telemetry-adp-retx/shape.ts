import type { HistogramLimits, HistogramShape } from '../../native/doca/adp-retx.ts'

/** Bins that are asked for. */
const BINS = 16
/** Width of the first two. Unit: seconds. */
const WIDTH_SECONDS = 1e-4
/** Width of a bin in units of a device at most, which has 16 bits for it. */
const WIDTH_MAX = 65_535

/**
 * What is asked of a device: 16 bins from 0.1 ms on, each twice as wide as the one before, in a unit that it has. A
 * device that counts in milliseconds alone begins at 1 ms, one that counts in nanoseconds alone at 65 µs.
 */
export function wantedShape({ maxBins, unitsSeconds }: HistogramLimits): HistogramShape | undefined {
  const exact = unitsSeconds.find((unit) => isWhole(WIDTH_SECONDS / unit) && WIDTH_SECONDS / unit <= WIDTH_MAX)
  const unitSeconds = exact ?? unitsSeconds[0]
  if (unitSeconds === undefined || maxBins < 2) return undefined
  const width = Math.min(WIDTH_MAX, Math.max(1, Math.round(WIDTH_SECONDS / unitSeconds)))
  return { bins: Math.min(BINS, maxBins), bin0Width: width, bin1Width: width, doubles: true, unitSeconds }
}

function isWhole(width: number): boolean {
  return width > 0.5 && Math.abs(width - Math.round(width)) < 1e-6
}
