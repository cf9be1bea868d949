import { defineType, type Field, gauge, label, timestamp } from '@sonde/sdk'
import type { PciStateField } from '../pci/state.ts'
import { pciDeviceType } from '../pci/type.ts'

const entity = { kind: 'pci', key: ['pci_address'] }
const pci_address = label('PCI address, such as 0000:9b:00.0')

/** Link and errors, declared as in the reported type, with metrics of this type. */
const state = Object.fromEntries(
  pciDeviceType.layout.slots
    .filter(({ name }) => name.startsWith('current_link_') || name.startsWith('aer_'))
    .map(({ name, field: { metric, ...field } }) => [
      name,
      metric === undefined ? field : { ...field, metric: metric.replace(pciDeviceType.name, 'pci_sample') },
    ]),
) as { readonly [F in PciStateField]: (typeof pciDeviceType)['fields'][F] & Field<number | bigint | undefined> }

/** Samples of link and errors of one device. They stay in the memory of the host. */
export const pciSampleType = defineType(
  'pci_sample',
  'A fast sample of link and errors of one PCI device',
  { time: timestamp(), pci_address, ...state },
  { entity },
)

/** Statistics of the sampling of one device. */
export const pciSamplingType = defineType(
  'pci_sampling',
  'Fast sampling of link and errors of one PCI device',
  { time: timestamp(), pci_address, samples: gauge('u32', { help: 'Samples since the last record' }) },
  { entity, core: [] },
)
