import { setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import type { LinkPlace } from '../../native/doca/pci.ts'
import { docaEntries } from '../doca/options.ts'

const ALLOWED = 'a place of a PCIe link such as 0.0.0: depth.index.node, each 0 to 255'
const PLACE = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){2}$/

/** Options of the source of PCIe links in `data_sources`. */
export const pciOptions = v.strictObject({
  ...docaEntries,
  link: setting(
    v.pipe(v.string(ALLOWED), v.regex(PLACE, ALLOWED)),
    '0.0.0',
    'PCIe link of each device, as `mlxlink -d DEVICE --port_type PCIE --show_links` prints it: depth.index.node',
  ),
})

/** Options of the source of PCIe links after validation. */
export type PciOptions = v.InferOutput<typeof pciOptions>

/** Returns the place that the option `link` names. */
export function placeOf(link: string): LinkPlace {
  const [depth = 0, index = 0, node = 0] = link.split('.').map(Number)
  return { depth, index, node }
}
