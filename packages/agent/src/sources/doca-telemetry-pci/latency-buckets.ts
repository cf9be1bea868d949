import { type RecordType, SondeError } from '@sonde/sdk'
import type { PciLatency } from '../../native/doca/pci.ts'
import { docaPciLatencyType, latencyType } from './type.ts'

/** Highest number of different sets of buckets over all devices. Each set is a type. */
const SHAPES_MAX = 32
const NS_PER_S = 1_000_000_000

/** Types of the histograms of devices. Devices with equal buckets share a type. */
export class LatencyTypes {
  readonly #types = new Map<string, RecordType>([[docaPciLatencyType.fingerprint, docaPciLatencyType]])

  /** @throws SondeError if the buckets changed too often. */
  of(edges: readonly number[]): RecordType {
    const type = latencyType(edges)
    const known = this.#types.get(type.fingerprint)
    if (known !== undefined) return known
    if (this.#types.size >= SHAPES_MAX)
      throw new SondeError('SRC_READ', `the buckets of read latency changed ${SHAPES_MAX} times; start Sonde again`)
    this.#types.set(type.fingerprint, type)
    return type
  }
}

/**
 * Returns the upper edges of the reported buckets, except the last. The device has many buckets of equal width; each
 * reported bucket ends at twice the edge of the one before. Unit: seconds.
 */
export function latencyEdges({ counts, widthNs }: PciLatency): number[] {
  return endsOf(counts.length).map((end) => (end * widthNs) / NS_PER_S)
}

/** Returns the reads of the reported buckets. */
export function latencyCounts({ counts }: PciLatency): bigint[] {
  const ends = [...endsOf(counts.length), counts.length]
  return ends.map((end, at) =>
    counts.subarray(ends[at - 1] ?? 0, end).reduce((sum, count) => BigInt.asUintN(64, sum + count), 0n),
  )
}

/** Ends of all reported buckets except the last, as indexes of buckets of the device. The last of those is open. */
function endsOf(count: number): number[] {
  return Array.from({ length: Math.ceil(Math.log2(count)) }, (_, bucket) => 2 ** bucket)
}
