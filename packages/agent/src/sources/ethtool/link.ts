import type { LinkSettings } from '../../native/ethtool.ts'
import { impossible, QUANTITIES } from '../ranges/quantities.ts'

/** The state of a link; values that the driver does not report are undefined. */
export interface Link {
  /** Unit: bytes per second. */
  readonly speed_bytes_per_second: number | undefined
  readonly full_duplex: number | undefined
  readonly autonegotiation: number | undefined
  readonly lanes: number | undefined
  readonly port_kind: string | undefined
}

const BYTES_PER_MEGABIT = 125_000
const PORT_KINDS: ReadonlyMap<number, string> = new Map([
  [0x00, 'twisted_pair'],
  [0x01, 'aui'],
  [0x02, 'mii'],
  [0x03, 'fibre'],
  [0x04, 'bnc'],
  [0x05, 'direct_attach'],
  [0xef, 'none'],
  [0xff, 'other'],
])

/** The settings in our units. */
export function linkOf(settings: LinkSettings): Link {
  const { speedMbit, duplex, autonegotiation, port } = settings
  const speedBytes = speedMbit * BYTES_PER_MEGABIT
  const isKnown = impossible(QUANTITIES.linkSpeed, speedBytes) === undefined
  return {
    speed_bytes_per_second: isKnown ? speedBytes : undefined,
    full_duplex: duplex <= 1 ? duplex : undefined,
    autonegotiation: autonegotiation <= 1 ? autonegotiation : undefined,
    lanes: isKnown ? lanesOf(settings) : undefined,
    port_kind: PORT_KINDS.get(port),
  }
}

/** Link modes from 20 Gbit/s on: first and last bit, Mbit/s, lanes. Below that nearly every mode has one lane. */
const MODES: readonly (readonly [first: number, last: number, speedMbit: number, lanes: number])[] = [
  [21, 22, 20_000, 2],
  [23, 26, 40_000, 4],
  [27, 30, 56_000, 4],
  [31, 33, 25_000, 1],
  [34, 35, 50_000, 2],
  [36, 39, 100_000, 4],
  [40, 40, 50_000, 2],
  [52, 56, 50_000, 1],
  [57, 61, 100_000, 2],
  [62, 66, 200_000, 4],
  [69, 73, 400_000, 8],
  [75, 79, 100_000, 1],
  [80, 84, 200_000, 2],
  [85, 89, 400_000, 4],
  [93, 98, 800_000, 8],
  [103, 108, 200_000, 1],
  [109, 114, 400_000, 2],
  [115, 120, 800_000, 4],
  [121, 124, 1_600_000, 8],
]

/**
 * Lanes, which these calls do not tell as such: those of the modes of the present speed, where they all have as many.
 * The modes of both sides are asked first, then those of ours.
 */
function lanesOf({ speedMbit, supported, advertised, partnerAdvertised }: LinkSettings): number | undefined {
  const common = advertised.map((word, index) => word & (partnerAdvertised[index] ?? 0))
  for (const mask of [common, advertised, supported]) {
    const lanes = new Set<number>()
    for (const [first, last, speed, count] of MODES) {
      if (speed === speedMbit && hasBit(mask, first, last)) lanes.add(count)
    }
    if (lanes.size === 1) return [...lanes][0]
    if (lanes.size > 1) return undefined
  }
  return undefined
}

function hasBit(mask: readonly number[], first: number, last: number): boolean {
  for (let bit = first; bit <= last; bit++) {
    if ((((mask[bit >> 5] ?? 0) >>> (bit & 31)) & 1) === 1) return true
  }
  return false
}
