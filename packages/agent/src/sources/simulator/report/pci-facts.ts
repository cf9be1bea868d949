import { pcieBytesPerS, transfersPerS } from '../model/pace.ts'

/** Why a device that is no root port lacks some counters. */
export const PCI_REASONS = Object.fromEntries(
  ['correctable', 'nonfatal', 'fatal'].map((severity) => [
    `aer_rootport_${severity}_total`,
    'only a root port counts what comes from below',
  ]),
)

/** The best that a link of 16 lanes can do. */
export function linkLimits(generation: number): Record<string, number> {
  return {
    max_link_speed_gigatransfers: transfersPerS(generation) / 1e9,
    max_link_width_lanes: 16,
    max_link_bandwidth_bytes: Math.floor(pcieBytesPerS(generation, 16)),
  }
}
