// Declares a record type, reports records of it in three ways, and shows them to Prometheus.
// Run it with: npx node --conditions=source examples/report-records.ts, then: curl http://127.0.0.1:9464/metrics

import { createServer } from 'node:http'
import {
  Absences,
  counter,
  createPrometheus,
  createSource,
  defineType,
  gauge,
  label,
  metricsHandler,
  optional,
  timestamp,
  wallNs,
} from '@sonde/sdk'

const port = defineType('port', 'Counters of a network port', {
  time: timestamp(),
  device: label('Name of the port'),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
  temperature_celsius: optional(gauge('f64', { unit: 'celsius', help: 'Temperature of the module' })),
})

const prometheus = createPrometheus()
const source = createSource({
  id: 'example',
  labels: { node: 'n1' },
  emit: (batch) => prometheus.accept(batch),
})

// A record at a time. A u64 is exact: beyond 2^53 give a bigint.
source.report(port, {
  time: wallNs(),
  device: 'eth0',
  rx_bytes_total: 18446744073709551615n,
  temperature_celsius: 41.5,
})

// A value that is not available is left out, not reported as 0, and its reason is reported.
const absences = new Absences(source)
source.report(port, { time: wallNs(), device: 'eth1', rx_bytes_total: 7 })
absences.set(port, { device: 'eth1' }, 'temperature_celsius', 'unsupported', 'the module has no sensor')

// A handle, for hot paths: labels are looked up once, then numbers are written; `collect` sends the row as it is.
const received = source.bind(port, { device: 'eth2' }).counter('rx_bytes_total')
for (let packet = 0; packet < 1000; packet++) received.add(1500)
source.collect()
source.flush()

const server = createServer(metricsHandler(prometheus)).listen(
  { port: Number(process.env.PORT ?? 9464), host: '127.0.0.1', exclusive: true },
  () => {
    console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}/metrics`)
  },
)
