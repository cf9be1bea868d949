import { DOCA_MODULE } from '../../places.ts'
import { DOCA_HOST, docaLibraries, lookForDoca } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type DpaOptions, dpaOptions } from './config.ts'
import { dpaExplain } from './explain.ts'
import { docaDpaProcessType, docaDpaThreadType } from './type.ts'

/** Registry row of the source of data-path accelerators. It starts counters, so it runs only on request. */
export const docaTelemetryDpa: SourceDefinition = {
  name: 'doca_telemetry_dpa',
  summary: 'Processes and threads of the data-path accelerator, by the DOCA Telemetry libraries',
  types: [docaDpaProcessType, docaDpaThreadType],
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 1000,
  options: dpaOptions,
  isOnRequest: true,
  look: lookForDoca,
  libraries: docaLibraries,
  explain: dpaExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createDpa }] = await Promise.all([import('../doca/library.ts'), import('./source.ts')])
    return { library: docaLibrary, create: (options, context) => createDpa(options as DpaOptions, context) }
  },
}
