import { clashOfLimits } from '../../delivery/config.ts'
import { faultOfHttp, lookAtHttp, tryHttp } from '../../delivery/connection/check-http.ts'
import type { SinkDefinition } from '../registry.ts'
import { clashOfInflux, influxEntries } from './config.ts'
import { createInflux } from './influx.ts'

/** The row of InfluxDB. */
export const influxSink: SinkDefinition<typeof influxEntries> = {
  name: 'influx',
  summary: 'Records as points in InfluxDB 1, 2 or 3',
  order: 'series',
  entries: influxEntries,
  sampleBytes: 33,
  refuse: (options) => clashOfInflux(options) ?? clashOfLimits(options) ?? faultOfHttp(options),
  create: (options, { name, onLoss }) =>
    createInflux({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: lookAtHttp,
  tryConnection: tryHttp,
}
