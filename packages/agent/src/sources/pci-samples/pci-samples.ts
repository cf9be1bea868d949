import { pciExplain } from '../pci/explain.ts'
import type { SourceDefinition } from '../source.ts'
import { type PciSamplesOptions, pciSamplesOptions } from './config.ts'
import { pciSampleType, pciSamplingType } from './type.ts'

/** Registry row of the fast samples of PCI devices: runs only on request. */
export const pciSamples: SourceDefinition = {
  name: 'pci_samples',
  summary: 'Link and errors of PCI devices, sampled many times a second for rules',
  types: [pciSamplingType, pciSampleType],
  host: 'worker',
  intervalMs: 1000,
  options: pciSamplesOptions,
  explain: pciExplain,
  isOnRequest: true,
  async load() {
    const { createPciSamples } = await import('./source.ts')
    return { create: (options, context) => createPciSamples(options as PciSamplesOptions, context) }
  },
}
