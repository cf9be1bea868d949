import { DOCA_MODULE } from '../../places.ts'
import { docaExplain } from '../doca/explain.ts'
import { DOCA_HOST, docaLibraries, lookForDoca } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type AdpRetxOptions, adpRetxOptions } from './config.ts'
import { docaAdpRetxTimeoutsType, docaAdpRetxType } from './type.ts'

/** Registry row of the source of adaptive retransmission. */
export const docaTelemetryAdpRetx: SourceDefinition = {
  name: 'doca_telemetry_adp_retx',
  summary: 'Adaptive retransmission of NICs and DPUs, by the DOCA Telemetry libraries',
  types: [docaAdpRetxType, docaAdpRetxTimeoutsType],
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 1000,
  options: adpRetxOptions,
  look: lookForDoca,
  libraries: docaLibraries,
  explain: docaExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createAdpRetx }] = await Promise.all([
      import('../doca/library.ts'),
      import('./source.ts'),
    ])
    return { library: docaLibrary, create: (options, context) => createAdpRetx(options as AdpRetxOptions, context) }
  },
}
