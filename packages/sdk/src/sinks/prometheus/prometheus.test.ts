import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  absenceType,
  counter,
  createSource,
  defineType,
  gauge,
  label,
  optional,
  seriesKey,
  timestamp,
} from '../../index.ts'
import { createPrometheus } from './prometheus.ts'

const port = defineType('port', 'Counters of a port', {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
  temperature_celsius: optional(gauge('f64', { unit: 'celsius', help: 'Temperature\nof the port' })),
})

test('golden text of both formats', async () => {
  const view = createPrometheus()
  const source = createSource({ id: 's', labels: { node: 'n1' }, emit: (batch) => view.accept(batch) })
  source.report(port, { time: 1n, device: 'eth0', rx_bytes_total: 18446744073709551615n, temperature_celsius: -4.25 })
  source.report(port, { time: 1n, device: 'e"t\\h\n1', rx_bytes_total: 7 })
  source.report(absenceType, {
    time: 1n,
    type: 'port',
    series: seriesKey({ device: 'eth1' }),
    field: 'temperature_celsius',
    code: 'unsupported',
    reason: 'driver does not say',
  })
  source.flush()
  const text = (await view.render()).body.toString()
  assert.ok(text)
})
