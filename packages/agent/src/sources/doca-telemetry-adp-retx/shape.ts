import type { HistogramLimits, HistogramShape } from '../../native/doca/adp-retx.ts'

/** Number of bins that are requested. */
const BINS = 16
/** Width of the first two bins. Unit: seconds. */
const WIDTH_SECONDS = 1e-4
/** Greatest width of a bin in the units of a device, which stores it in 16 bits. */
const WIDTH_MAX = 65_535

/**
 * Returns the bins to request from a device: 16 bins from 0.1 ms on, each twice as wide as the one before, in a unit of
 * the device. A device that counts only in milliseconds starts at 1 ms, a device that counts only in nanoseconds at 65
 * µs.
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
