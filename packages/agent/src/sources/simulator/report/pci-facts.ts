import { GIGATRANSFERS } from '../../pci/bandwidth.ts'
import { pcieBytesPerS } from '../model/pace.ts'
import { BRIDGE_READ as B, PCI_READ as P } from '../observe/readings.ts'
import { type Columns, fraction, whole } from './column.ts'

/** How the parts of `pci_device` that change are filled. */
export const PCI_COLUMNS: Columns = {
  current_link_speed_gigatransfers: fraction(P.gigatransfers),
  current_link_width_lanes: whole(P.width),
  current_link_bandwidth_bytes: fraction(P.bandwidth),
  aer_correctable_total: whole(P.correctable),
  aer_nonfatal_total: whole(P.nonfatal),
  aer_fatal_total: whole(P.fatal),
}

/** The same of a bridge, with what a root port counts of those below it. */
export const BRIDGE_COLUMNS: Columns = {
  ...PCI_COLUMNS,
  aer_rootport_correctable_total: whole(B.messagesCorrectable),
  aer_rootport_nonfatal_total: whole(B.messagesNonfatal),
  aer_rootport_fatal_total: whole(B.messagesFatal),
}

/** Why a device that is no root port lacks some counters. */
export const PCI_REASONS = Object.fromEntries(
  ['correctable', 'nonfatal', 'fatal'].map((severity) => [
    `aer_rootport_${severity}_total`,
    'only a root port counts what comes from below',
  ]),
)

/** Why nothing is known of the link of a device that does not answer. */
export const NO_ANSWER = currentLink('the device does not answer: its configuration space reads as ones')
/** Why nothing is known of a link at the port above a device that is not there. */
export const NO_LINK = currentLink('the link is down, or the port has none')

function currentLink(reason: string): Readonly<Record<string, string>> {
  const fields = ['speed_gigatransfers', 'width_lanes', 'bandwidth_bytes']
  return Object.fromEntries(fields.map((field) => [`current_link_${field}`, reason]))
}

/** The best that a link of 16 lanes can do. */
export function linkLimits(generation: number): Record<string, number> {
  return {
    max_link_speed_gigatransfers: GIGATRANSFERS[generation - 1] ?? Number.NaN,
    max_link_width_lanes: 16,
    max_link_bandwidth_bytes: pcieBytesPerS(generation, 16),
  }
}
