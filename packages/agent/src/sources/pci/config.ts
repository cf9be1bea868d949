import { block, choice, integer, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'
import { PCI_CLASSES } from './names.ts'

const WANTED_CLASSES = ['gpu', 'accelerator', 'network', 'infiniband', 'dpu', 'nvme'] as const

/** Options of the pci source in `data_sources`. */
export const pciOptions = block({
  classes: setting(
    v.pipe(
      list(choice(PCI_CLASSES), PCI_CLASSES.length, 'classes'),
      v.minLength(1, 'at least one class; leave the key out for the usual ones'),
    ),
    [...WANTED_CLASSES],
    'Kinds of devices to read. Bridges between them and the root are read too',
  ),
  devices: devicesOption,
  device_limit: setting(
    integer(1, 4096, 'devices'),
    512,
    'Devices at most, bridges counted; virtual functions are the first that are left out, and each that is left out is counted as dropped at every sample',
  ),
})

/** What {@link pciOptions} gives. */
export type PciOptions = v.InferOutput<typeof pciOptions>
