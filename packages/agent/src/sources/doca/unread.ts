import { type RecordType, SondeError } from '@sonde/sdk'
import * as v from 'valibot'
import { docaDpaProcessType, docaDpaThreadType } from '../doca-telemetry-dpa/type.ts'
import { docaPccCounterType, docaPccType } from '../doca-telemetry-pcc/type.ts'
import type { SourceDefinition } from '../source.ts'
import { DOCA_HOST, docaEntries } from './options.ts'

/**
 * Sources that a configuration may name although this version does not read them. They are absent, with this reason.
 * The simulator reports their types.
 */
export const UNREAD_SOURCES: readonly SourceDefinition[] = [
  unread('doca_telemetry_dpa', 'Processes and threads of the data-path accelerator', [
    docaDpaProcessType,
    docaDpaThreadType,
  ]),
  unread('doca_telemetry_pcc', 'Counters of programmable congestion control', [docaPccType, docaPccCounterType]),
]

function unread(name: string, summary: string, types: readonly RecordType[]): SourceDefinition {
  const reason = `this version of Sonde does not read ${name} yet`
  return {
    name,
    summary: `${summary}, by the DOCA Telemetry libraries; not read yet: the source is always absent`,
    types,
    host: DOCA_HOST,
    isOnRequest: true,
    intervalMs: 1000,
    options: v.strictObject(docaEntries),
    look: () => ({ state: 'absent', reason }),
    load: async () => {
      throw new SondeError('SRC_LIBRARY', reason)
    },
  }
}
