import { block, choice, integer, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'
import { ringMsOption, sampleMsOption } from '../fast-samples/config.ts'
import { PCI_CLASSES } from '../pci/names.ts'

const WANTED_CLASSES = ['gpu', 'accelerator', 'network', 'infiniband', 'dpu'] as const

/** Options of the fast samples of PCI devices in `data_sources`. */
export const pciSamplesOptions = block({
  classes: setting(
    v.pipe(
      list(choice(PCI_CLASSES), PCI_CLASSES.length, 'classes'),
      v.minLength(1, 'at least one class; leave the key out for the usual ones'),
    ),
    [...WANTED_CLASSES],
    'Kinds of devices to sample. Bridges between them and the root are sampled too; virtual functions are not',
  ),
  devices: devicesOption,
  device_limit: setting(
    integer(1, 1024, 'devices'),
    128,
    'Devices at most, bridges counted; each that is left out is counted as dropped once an interval',
  ),
  sample_ms: sampleMsOption(
    50,
    'Time between two samples of each device; link and errors are live, and none is a repeat',
  ),
  ring_ms: ringMsOption,
})

/** Parsed {@link pciSamplesOptions}. */
export type PciSamplesOptions = v.InferOutput<typeof pciSamplesOptions>
