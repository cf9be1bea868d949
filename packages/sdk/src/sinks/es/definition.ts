import { clashOfLimits } from '../../delivery/config.ts'
import { faultOfHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { SinkDefinition } from '../registry.ts'
import { esEntries } from './config.ts'
import { createEs } from './es.ts'

/** The row of Elasticsearch and OpenSearch. */
export const esSink: SinkDefinition<typeof esEntries> = {
  name: 'es',
  summary: 'Records as documents in Elasticsearch or OpenSearch',
  order: 'none',
  entries: esEntries,
  sampleBytes: 45,
  refuse: (options) => clashOfLimits(options) ?? faultOfHttp(options),
  create: (options, { name, onLoss }) => createEs({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: lookAtHttp,
  tryConnection: tryHttp,
}
