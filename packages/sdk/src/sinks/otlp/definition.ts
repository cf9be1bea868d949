import { clashOfLimits } from '../../delivery/config.ts'
import { checkHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { HttpOptions } from '../../delivery/connection/config.ts'
import { optionFault } from '../../delivery/connection/option-fault.ts'
import type { SinkDefinition } from '../registry.ts'
import { clashOfOtlp, type OtlpOptions, otlpEntries } from './config.ts'
import { createOtlp } from './otlp.ts'
import { targetOf } from './signals.ts'

/** The row of OTLP. */
export const otlpSink: SinkDefinition<typeof otlpEntries> = {
  name: 'otlp',
  summary: 'Metrics and logs to an OpenTelemetry receiver, over HTTP',
  order: 'series',
  sampleBytes: 137,
  entries: otlpEntries,
  refuse: (options) =>
    optionFault(() => {
      const { metrics, logs, temporality } = targetOf(options, process.env)
      checkHttp(metrics.http)
      checkHttp(logs.http)
      return temporality
    }) ??
    clashOfOtlp({ ...options, temporality: targetOf(options, process.env).temporality }) ??
    clashOfLimits(options),
  create: (options, { name, schema, version, onLoss }) =>
    createOtlp({ ...options, name, schema, version, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: (options) => lookAtHttp(bothOf(options)),
  tryConnection: (options) => tryHttp(bothOf(options)),
}

/** The addresses of both signals. */
function bothOf(options: OtlpOptions): HttpOptions {
  const { metrics, logs } = targetOf(options, process.env)
  const { url, endpoints = [] } = logs.http
  return { ...metrics.http, endpoints: [...(metrics.http.endpoints ?? []), url, ...endpoints] }
}
