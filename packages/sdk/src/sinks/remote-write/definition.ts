import { clashOfLimits } from '../../delivery/config.ts'
import { faultOfHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { SinkDefinition } from '../registry.ts'
import { clashOfRemoteWrite, remoteWriteEntries } from './config.ts'
import { createRemoteWrite } from './remote-write.ts'

/** The row of Prometheus remote write. */
export const remoteWriteSink: SinkDefinition<typeof remoteWriteEntries> = {
  name: 'remote_write',
  summary: 'Metrics as Prometheus remote write, to Prometheus, VictoriaMetrics, Mimir or Thanos',
  order: 'series',
  entries: remoteWriteEntries,
  agentRate: { set: 'core', intervalS: 15 },
  sampleBytes: 25,
  refuse: (options) => clashOfRemoteWrite(options) ?? clashOfLimits(options) ?? faultOfHttp(options),
  create: (options, { name, schema, onLoss }) =>
    createRemoteWrite({ ...options, name, schema, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: lookAtHttp,
  tryConnection: tryHttp,
}
