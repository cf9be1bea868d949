import type { Lack } from '../field-absences.ts'
import { bandwidthOf, TRANSFERS_PER_SECOND } from '../pci/bandwidth.ts'
import { impossible, QUANTITIES } from './quantities.ts'

/** Two readings of a counter are not exactly as far apart as the driver takes them to be. */
const TOLERANCE = 1.1

/**
 * Why a throughput is more than a PCIe link carries; undefined if it is not, or the link is not known. The link at
 * its best counts: an idle one runs slower, and may have run fast within the time of the mean.
 */
export function beyondLink(
  bytesPerSecond: number,
  generationMax: number | undefined,
  lanesMax: number | undefined,
): Lack | undefined {
  const bandwidth = bandwidthOf(TRANSFERS_PER_SECOND[(generationMax ?? 0) - 1], lanesMax)
  if (bandwidth === undefined) return undefined
  const words = `the throughput of this link, PCIe ${generationMax} with ${lanesMax} lanes,`
  return impossible({ ...QUANTITIES.pcieThroughput, words, most: Math.round(bandwidth * TOLERANCE) }, bytesPerSecond)
}
