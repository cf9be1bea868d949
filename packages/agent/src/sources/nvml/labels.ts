import type { Labels } from '@sonde/sdk'
import { labelOf } from '@sonde/sdk/internal'
import { sysfsAddress } from '../pci-address.ts'

/** The labels of a GPU for metrics with names of Sonde, from its labels for metrics with names of DCGM. */
export function ownGpuLabels(dcgm: Labels) {
  return {
    gpu: labelOf(dcgm, 'gpu'),
    UUID: labelOf(dcgm, 'UUID'),
    device_file: labelOf(dcgm, 'device'),
    modelName: labelOf(dcgm, 'modelName'),
    Hostname: labelOf(dcgm, 'Hostname'),
    pci_address: sysfsAddress(labelOf(dcgm, 'pci_bus_id')),
  }
}
