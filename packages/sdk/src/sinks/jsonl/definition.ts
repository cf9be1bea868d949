import { clashOfLimits } from '../../delivery/config.ts'
import { faultOfHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { SinkDefinition } from '../registry.ts'
import { jsonlEntries } from './config.ts'
import { createJsonl } from './jsonl.ts'

/** The row of JSON lines. */
export const jsonlSink: SinkDefinition<typeof jsonlEntries> = {
  name: 'jsonl',
  summary: 'Records as JSON lines, posted over HTTP',
  order: 'total',
  entries: jsonlEntries,
  sampleBytes: 40,
  refuse: (options) => clashOfLimits(options) ?? faultOfHttp(options),
  create: (options, { name, onLoss }) => createJsonl({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: lookAtHttp,
  tryConnection: tryHttp,
}
