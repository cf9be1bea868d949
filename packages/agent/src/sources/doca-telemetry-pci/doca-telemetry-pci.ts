import { DOCA_MODULE } from '../../places.ts'
import { docaExplain } from '../doca/explain.ts'
import { DOCA_HOST, docaLibraries, lookForDoca } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type PciOptions, pciOptions } from './config.ts'
import { docaPciLatencyType, docaPciType } from './type.ts'

/** Registry row of the source of PCIe links. It only reads, so it runs on every node with the library. */
export const docaTelemetryPci: SourceDefinition = {
  name: 'doca_telemetry_pci',
  summary: 'The PCIe link of a device, as its firmware sees it, by the DOCA Telemetry libraries',
  types: [docaPciType, docaPciLatencyType],
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 2000,
  options: pciOptions,
  look: lookForDoca,
  libraries: docaLibraries,
  explain: docaExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createPci }] = await Promise.all([import('../doca/library.ts'), import('./source.ts')])
    return { library: docaLibrary, create: (options, context) => createPci(options as PciOptions, context) }
  },
}
