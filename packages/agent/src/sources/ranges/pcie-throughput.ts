import type { Missing } from '../field-absences.ts'
import { bandwidthOf, GENERATION_TRANSFERS_PER_SECOND } from '../pci/bandwidth.ts'
import { impossible, QUANTITIES } from './quantities.ts'

/** The time between two readings of a counter differs slightly from the time that the driver assumes. */
const TOLERANCE = 1.1

/**
 * Explains why a throughput exceeds the capacity of a PCIe link; undefined if it does not, or if the link is unknown.
 * The link's maximum counts: an idle link slows down, but may have been fast within the measured time.
 */
export function beyondLink(
  bytesPerSecond: number,
  generationMax: number | undefined,
  lanesMax: number | undefined,
): Missing | undefined {
  const bandwidth = bandwidthOf(GENERATION_TRANSFERS_PER_SECOND[(generationMax ?? 0) - 1], lanesMax)
  if (bandwidth === undefined) return undefined
  const words = `the throughput of this link, PCIe ${generationMax} with ${lanesMax} lanes,`
  return impossible({ ...QUANTITIES.pcieThroughput, words, most: Math.round(bandwidth * TOLERANCE) }, bytesPerSecond)
}
