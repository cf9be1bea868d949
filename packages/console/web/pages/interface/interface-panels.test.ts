import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LatestSeries, ListedMetric, ListedType } from '@sonde/sdk/api'
import { testColumns } from '../test-columns.ts'
import { interfacePanels, interfaceQueries } from './interface-panels.ts'

const field = (name: string, role: ListedMetric['role'], unit = ''): ListedMetric => ({
  name,
  metric: `netdev_${name}`,
  kind: 'u64',
  role,
  unit,
  help: `Help of ${name}`,
})

const NETDEV: ListedType = {
  name: 'netdev',
  description: '',
  labels: ['device'],
  records: [],
  live: true,
  read: '',
  fields: [
    field('rx_bytes_total', 'counter', 'bytes'),
    field('tx_bytes_total', 'counter', 'bytes'),
    field('rx_novel_total', 'counter'),
    field('speed_bytes_per_second', 'gauge', 'bytes'),
    field('mtu_bytes', 'gauge', 'bytes'),
  ],
}
const CARRIER: ListedType = { ...NETDEV, name: 'netdev_carrier', fields: [field('carrier_changes_total', 'counter')] }
const TYPES = [NETDEV, CARRIER]
const FIELDS = TYPES.flatMap(({ fields }) => fields)
const QUERIES = interfaceQueries(TYPES, 'eth0')

const latest = (name: string, absent = ''): LatestSeries => ({
  metric: `netdev_${name}`,
  labels: { device: 'eth0' },
  value: absent === '' ? '1' : null,
  timeMs: 0,
  absent,
})

function panels(values: readonly LatestSeries[] = [], silent = '') {
  const series = [{ labels: { device: 'eth0' }, values: [100, 200] }]
  return interfacePanels(
    TYPES,
    QUERIES,
    testColumns(QUERIES.map((query) => ({ query, series: query.metric === silent ? [] : series }))),
    values,
  )
}

test('a counter is asked for its rate, a gauge for its value, and rare changes for their number', () => {
  assert.deepEqual(
    QUERIES.map(({ function: fn }) => fn),
    ['rate', 'rate', 'rate', 'last', 'last', 'increase'],
  )
  assert.ok(QUERIES.every(({ matchers }) => matchers?.[0]?.value === 'eth0'))
  assert.deepEqual(interfaceQueries([], 'eth0'), [])
})

test('what is not answered yet is awaited, and not absent', () => {
  const absent = FIELDS.map(({ name }) => latest(name, 'The driver does not tell.'))
  const awaited = interfacePanels(TYPES, QUERIES, testColumns([]), absent)
  assert.ok(awaited.every(({ absent, spec }) => absent === '' && spec.isAwaited === true))
  const answered = interfacePanels(TYPES, QUERIES, testColumns(QUERIES.map((query) => ({ query, series: [] }))), absent)
  assert.ok(answered.every(({ absent }) => absent === 'The driver does not tell.'))
})

test('every counter has a chart, also one that the page does not know', () => {
  const lines = panels().flatMap(({ spec }) => spec.members.map(({ key }) => key))
  const counters = FIELDS.filter(({ role }) => role === 'counter').map(({ name }) => name)
  for (const name of counters) assert.ok(lines.includes(name), name)
  assert.ok(panels().some(({ spec }) => spec.title === 'Help of rx_novel_total'))
  assert.ok(!lines.includes('mtu_bytes'))
})

test('the link rate is the limit of the throughput', () => {
  const throughput = panels().find(({ spec }) => spec.id === 'throughput')
  assert.deepEqual(throughput?.spec.limits, [{ value: 200, label: 'link' }])
})

test('a chart whose every field is absent gives the reason', () => {
  const reason = 'the driver does not know it'
  const values = [latest('speed_bytes_per_second', reason), latest('rx_bytes_total', 'never'), latest('tx_bytes_total')]
  const found = panels(values, 'netdev_speed_bytes_per_second')
  assert.equal(found.find(({ spec }) => spec.id === 'speed')?.absent, reason)
  assert.equal(found.find(({ spec }) => spec.id === 'throughput')?.absent, '')
})

test('what is absent now but was there in the window is drawn', () => {
  const found = panels([latest('speed_bytes_per_second', 'the link is down')])
  assert.equal(found.find(({ spec }) => spec.id === 'speed')?.absent, '')
})
