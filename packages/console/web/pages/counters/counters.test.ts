import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LatestSeries, ListedMetric, ListedType } from '@sonde/sdk/api'
import { absentWords, counterRows, isAbsent } from './counter-rows.ts'
import { nextReading, seriesKeyOf } from './use-counter-rates.ts'

const field = (name: string, role: ListedMetric['role'] = 'counter'): ListedMetric => ({
  name,
  metric: `port_${name}`,
  kind: 'u64',
  role,
  unit: '',
  help: '',
})
const TYPE: ListedType = {
  name: 'port',
  description: '',
  labels: ['device', 'priority'],
  records: [],
  live: true,
  read: '',
  fields: [field('pauses_total'), field('state', 'gauge'), field('drops_total')],
}
const pauses = (priority: string, value: string | null): LatestSeries => ({
  metric: 'port_pauses_total',
  labels: { device: 'eth0', priority },
  value,
  timeMs: 1_000,
  absent: value === null ? 'The driver does not count it.' : '',
})

test('a rate is the difference of exact integers, also beyond what a double holds', () => {
  const first = nextReading(undefined, '18446744073709550000', 1_000)
  assert.ok(Number.isNaN(first.rate))
  assert.equal(nextReading(first, '18446744073709551000', 3_000).rate, 500)
})

test('a counter that restarted has no rate, and a reading that is seen again changes nothing', () => {
  const first = nextReading(undefined, '100', 1_000)
  assert.ok(Number.isNaN(nextReading(first, '7', 2_000).rate))
  assert.equal(nextReading(first, '100', 1_000), first)
  assert.equal(nextReading(nextReading(undefined, '0.5', 0), '1.5', 500).rate, 2)
})

test('what has no value says why: its source tells, its device left, or nothing came yet', () => {
  const [told] = counterRows([TYPE], [pauses('3', null)], new Map(), () => [])
  const silent = counterRows([TYPE], [], new Map(), () => [])[0]!
  assert.equal(absentWords(told!, ''), 'Absent. The driver does not count it.')
  assert.equal(absentWords(silent, 'Gone 14:03:11. It left the bus.'), 'Gone 14:03:11. It left the bus.')
  assert.equal(absentWords(silent, ''), 'Absent. No value came yet.')
})

test('each series of a field is a row that says what tells it apart; a field without series is a row too', () => {
  const latest = [pauses('0', '5'), pauses('3', null)]
  const rates = new Map([[seriesKeyOf(latest[0]!), 12]])
  const rows = counterRows([TYPE], latest, rates, () => [{ label: 'device', op: '=', value: 'eth0' }])
  assert.deepEqual(
    rows.map(({ name, rate }) => `${name} ${rate}`),
    ['pauses_total priority 0 12', 'pauses_total priority 3 NaN', 'state NaN', 'drops_total NaN'],
  )
  assert.deepEqual(rows.map(isAbsent), [false, true, true, true])
  assert.deepEqual(rows[1]?.query, {
    metric: 'port_pauses_total',
    function: 'rate',
    matchers: [
      { label: 'device', op: '=', value: 'eth0' },
      { label: 'priority', op: '=', value: '3' },
    ],
  })
})

test('fields of one metric have a row for each of their own series, selected by their constant labels', () => {
  const metric = 'port_seconds_total'
  const ofMode = (mode: string) => ({ ...field(`${mode}_total`), metric, labels: { mode } })
  const series = (mode: string): LatestSeries => {
    return { metric, labels: { device: 'eth0', mode }, value: '1', timeMs: 1_000, absent: '' }
  }
  const type = { ...TYPE, fields: [ofMode('up'), ofMode('down'), ofMode('idle')] }
  const device = { label: 'device', op: '=', value: 'eth0' } as const
  const rows = counterRows([type], [series('up'), series('down')], new Map(), () => [device])
  assert.deepEqual(
    rows.map((row) => [row.name, isAbsent(row)]),
    [
      ['up_total', false],
      ['down_total', false],
      ['idle_total', true],
    ],
  )
  assert.deepEqual(rows[1]?.query.matchers, [device, { label: 'mode', op: '=', value: 'down' }])
})
