import { DOCA_MODULE } from '../../places.ts'
import { docaExplain } from '../doca/explain.ts'
import { DOCA_HOST, docaLibraries, lookForDoca } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type PhyOptions, phyOptions } from './config.ts'
import { docaDiagLinkType, docaPhyLaneType, docaPhyType } from './type.ts'

/** Registry row of the source of ports. It only reads, so it runs on every node with the library. */
export const docaTelemetryPhy: SourceDefinition = {
  name: 'doca_telemetry_phy',
  summary: 'Link, bit errors and module of a port, by the DOCA Telemetry libraries',
  types: [docaPhyType, docaPhyLaneType, docaDiagLinkType],
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 1000,
  options: phyOptions,
  look: lookForDoca,
  libraries: docaLibraries,
  explain: docaExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createPhy }] = await Promise.all([import('../doca/library.ts'), import('./source.ts')])
    return { library: docaLibrary, create: (options, context) => createPhy(options as PhyOptions, context) }
  },
}
