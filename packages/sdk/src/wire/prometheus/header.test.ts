import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FamilyInfo, headerText, namesOf } from './header.ts'

const bytes: FamilyInfo = { name: 'port_rx_bytes_total', kind: 'counter', unit: 'bytes' }

test('text 0.0.4 names a counter in full; OpenMetrics leaves `_total` out and tells the unit', () => {
  assert.equal(
    headerText(bytes, 'Bytes', 'text', false),
    '# HELP port_rx_bytes_total Bytes\n# TYPE port_rx_bytes_total counter\n',
  )
  assert.equal(
    headerText(bytes, 'Bytes', 'openmetrics', false),
    '# TYPE port_rx_bytes counter\n# UNIT port_rx_bytes bytes\n# HELP port_rx_bytes Bytes\n',
  )
})

test('a counter that was named without `_total` keeps its name, and is `unknown` in OpenMetrics', () => {
  const given: FamilyInfo = { name: 'DCGM_FI_DEV_XID', kind: 'counter', unit: '' }
  assert.match(headerText(given, 'Errors', 'text', false), /# TYPE DCGM_FI_DEV_XID counter\n/)
  assert.match(headerText(given, 'Errors', 'openmetrics', false), /# TYPE DCGM_FI_DEV_XID unknown\n/)
})

test('a counter whose short name another metric has is `unknown` in OpenMetrics, without a unit that is not its suffix', () => {
  assert.equal(
    headerText(bytes, 'Bytes', 'openmetrics', true),
    '# TYPE port_rx_bytes_total unknown\n# HELP port_rx_bytes_total Bytes\n',
  )
})

test('a unit that does not end the name is left out of OpenMetrics', () => {
  const load: FamilyInfo = { name: 'host_load', kind: 'gauge', unit: 'ratio' }
  assert.equal(headerText(load, 'Load', 'openmetrics', false), '# TYPE host_load gauge\n# HELP host_load Load\n')
  assert.match(headerText({ ...load, name: 'load_ratio' }, 'Load', 'openmetrics', false), /# UNIT load_ratio ratio\n/)
})

test('HELP escapes backslash and newline, in OpenMetrics the quote too, and is valid UTF-8', () => {
  const help = 'a\\b\n"c"\u{0}\ud800'
  assert.match(headerText(bytes, help, 'text', false), /^# HELP \S+ a\\\\b\\n"c"\ufffd\ufffd\n/)
  assert.match(headerText(bytes, help, 'openmetrics', false), /# HELP \S+ a\\\\b\\n\\"c\\"\ufffd\ufffd\n$/)
})

test('a histogram owns the names of its samples', () => {
  const names = namesOf({ name: 'wait_seconds', kind: 'histogram', unit: 'seconds' })
  assert.deepEqual(names, ['wait_seconds', 'wait_seconds_bucket', 'wait_seconds_count', 'wait_seconds_sum'])
})
