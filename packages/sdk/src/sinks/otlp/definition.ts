import { clashOfLimits } from '../../delivery/config.ts'
import { faultOfHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { SinkDefinition } from '../registry.ts'
import { clashOfOtlp, otlpEntries } from './config.ts'
import { createOtlp } from './otlp.ts'

/** The row of OTLP. */
export const otlpSink: SinkDefinition<typeof otlpEntries> = {
  name: 'otlp',
  summary: 'Metrics and logs to an OpenTelemetry receiver, over HTTP',
  order: 'series',
  entries: otlpEntries,
  refuse: (options) => clashOfOtlp(options) ?? clashOfLimits(options) ?? faultOfHttp(options),
  create: (options, { name, schema, version, onLoss }) =>
    createOtlp({ ...options, name, schema, version, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: lookAtHttp,
  tryConnection: tryHttp,
}
