import { DOCA_MODULE } from '../../places.ts'
import { docaExplain } from '../doca/explain.ts'
import { DOCA_HOST, docaLibraries, lookForDoca } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type PccOptions, pccOptions } from './config.ts'
import { docaPccTypes } from './type.ts'

/** Registry row of the source of congestion-control algorithms. Few nodes run such an algorithm. */
export const docaTelemetryPcc: SourceDefinition = {
  name: 'doca_telemetry_pcc',
  summary: 'Algorithms of programmable congestion control and their counters, by the DOCA Telemetry libraries',
  types: docaPccTypes,
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 1000,
  options: pccOptions,
  isOnRequest: true,
  look: lookForDoca,
  libraries: docaLibraries,
  explain: docaExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createPcc }] = await Promise.all([import('../doca/library.ts'), import('./source.ts')])
    return { library: docaLibrary, create: (options, context) => createPcc(options as PccOptions, context) }
  },
}
