import { DOCA_MODULE } from '../../places.ts'
import { DOCA_HOST, docaLibraries } from '../doca/options.ts'
import { docaVersions } from '../doca/versions.ts'
import type { SourceDefinition } from '../source.ts'
import { type DiagOptions, diagOptions } from './config.ts'
import { diagExplain } from './explain.ts'
import { lookForDiag, TAINT } from './taint.ts'
import {
  docaDiagCounterType,
  docaDiagPciBytesType,
  docaDiagPciType,
  docaDiagPciUseType,
  docaDiagPortType,
  docaDiagPriorityType,
  docaDiagSampleType,
  docaDiagSamplingType,
  docaDiagType,
} from './type.ts'

/** Registry row of the source of diagnostic counters. It takes them from other programs, so it runs only on request. */
export const docaTelemetryDiag: SourceDefinition = {
  name: 'doca_telemetry_diag',
  summary: 'Diagnostic counters that NICs and DPUs sample themselves, by the DOCA Telemetry libraries',
  types: [
    docaDiagType,
    docaDiagPortType,
    docaDiagPriorityType,
    docaDiagPciBytesType,
    docaDiagPciType,
    docaDiagPciUseType,
    docaDiagCounterType,
    docaDiagSamplingType,
    docaDiagSampleType,
  ],
  host: DOCA_HOST,
  module: DOCA_MODULE,
  intervalMs: 5000,
  options: diagOptions,
  isOnRequest: true,
  look: lookForDiag,
  warning: (options) => ((options as DiagOptions).accept_taint ? TAINT : ''),
  libraries: docaLibraries,
  explain: diagExplain,
  versions: docaVersions,
  async load() {
    const [{ docaLibrary }, { createDiag }] = await Promise.all([import('../doca/library.ts'), import('./source.ts')])
    return { library: docaLibrary, create: (options, context) => createDiag(options as DiagOptions, context) }
  },
}
