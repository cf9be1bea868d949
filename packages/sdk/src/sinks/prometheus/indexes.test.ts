import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import {
  array,
  type Batch,
  counter,
  createSource,
  defineType,
  gauge,
  label,
  optional,
  text,
  timestamp,
  value,
} from '../../index.ts'
import { absenceType } from '../../internal/index.ts'

const flow = defineType('flow', 'A flow', {
  time: timestamp(),
  device: label(),
  port_num: value('u16'),
  state: text(),
  hops: array(value('u8'), 2),
  shard: optional(value('u32')),
  ratio: value('f64'),
  level: gauge('i32'),
  bytes_total: counter('u64'),
})
const record = (device: string, port_num: number, bytes_total: number, state = 'up', level = 0) => {
  return {
    time: 1_800_000_000_000_000_000n,
    device,
    port_num,
    state,
    hops: [1, 2],
    shard: 1,
    ratio: 0.5,
    level,
    bytes_total,
  }
}
const namedIndexes = ['port_num', 'state', 'hops', 'shard', 'ratio', 'time', 'nothing']

test('without an index the latest record of a series is shown, with it that of each value', async () => {
  const records = [record('a', 1, 10), record('a', 2, 20), record('b', 1, 30), record('a', 1, 11)]
  const rig = new PrometheusRig()
  rig.report(rig.source(), flow, ...records)
  assert.deepEqual(
    (await rig.lines()).filter((line) => line.startsWith('flow_bytes')),
    ['flow_bytes_total{device="a"} 11', 'flow_bytes_total{device="b"} 30'],
  )
  const indexed = new PrometheusRig({ indexes: ['port_num'] })
  indexed.report(indexed.source(), flow, ...records)
  assert.deepEqual(
    (await indexed.lines()).filter((line) => line.startsWith('flow_bytes')),
    [
      'flow_bytes_total{device="a",port_num="1"} 11',
      'flow_bytes_total{device="a",port_num="2"} 20',
      'flow_bytes_total{device="b",port_num="1"} 30',
    ],
  )
})

test('a text that is an index stays one series when the source replaces its table of texts', async () => {
  const rig = new PrometheusRig({ indexes: ['state'] })
  const emit = (batch: Batch) => rig.view.accept(batch)
  const source = createSource({ id: 'a', textLimit: 2, emit })
  for (const [i, state] of ['up', 'down', 'lost', 'up', 'down', 'up'].entries()) {
    source.report(flow, record('a', 1, i, state))
    source.emit()
  }
  assert.deepEqual(
    (await rig.lines()).filter((line) => line.startsWith('flow_bytes')),
    ['up', 'down', 'lost'].map((state, i) => `flow_bytes_total{device="a",state="${state}"} ${[5, 4, 2][i]}`),
  )
  assert.equal(rig.view.stats.dropped.size, 0)
})

test('numbers, text and what was a metric become labels; optional fields, arrays and fractions do not', async () => {
  const rig = new PrometheusRig({ indexes: [...namedIndexes, 'level'] })
  const warnings: string[] = []
  const warn = ({ message }: Error) => warnings.push(message.split(' ')[0] ?? '')
  process.on('warning', warn)
  rig.report(rig.source(), flow, record('a', 1, 10, 'up', -5), record('a', 1, 20, 'down', -5))
  await until('the warnings', () => warnings.length >= 4)
  process.off('warning', warn)
  assert.deepEqual(warnings.sort(), ['flow.hops', 'flow.ratio', 'flow.shard', 'flow.time'])
  assert.deepEqual(await rig.lines(), [
    'flow_bytes_total{device="a",port_num="1",state="up",level="-5"} 10',
    'flow_bytes_total{device="a",port_num="1",state="down",level="-5"} 20',
  ])
})

test('an index that no type has is told at the first scrape after a type came, once, with what it might have been', async (t) => {
  const rig = new PrometheusRig({ indexes: ['Port_num', 'nope', 'level'] })
  const warnings: string[] = []
  // Those of the test before may come as late.
  const warn = ({ message }: Error) => /"(Port_num|nope)"/.test(message) && warnings.push(message)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  await rig.lines()
  rig.report(rig.source(), flow, record('a', 1, 10))
  await rig.lines()
  rig.report(rig.source(), flow, record('a', 1, 11))
  await rig.lines()
  await until('the warnings', () => warnings.length >= 2)
  const there = 'those that can be one: bytes_total, device, level, port_num, state'
  const start = 'names no field of the types that came so far'
  assert.deepEqual(warnings, [
    `index "Port_num" ${start}; upper and lower case count: port_num is one; ${there}`,
    `index "nope" ${start}; ${there}`,
  ])
})

test('values of an index beyond the limit of series are dropped and counted; those that are known go on', async () => {
  const rig = new PrometheusRig({ indexes: ['port_num'], seriesLimit: 2 })
  const source = rig.source()
  rig.report(source, flow, record('a', 1, 1), record('a', 2, 1), record('a', 3, 1), record('a', 4, 1))
  rig.report(source, flow, record('a', 1, 5))
  assert.equal(rig.dropped('series_limit'), 2)
  assert.ok((await rig.lines()).includes('flow_bytes_total{device="a",port_num="1"} 5'))
})

test('an index value without a record leaves when its time is over', async () => {
  const rig = new PrometheusRig({ indexes: ['port_num'] })
  const source = rig.source()
  rig.report(source, flow, record('a', 1, 1), record('a', 2, 1))
  rig.nowMs += 200_000
  rig.report(source, flow, record('a', 2, 2))
  rig.nowMs += 200_000
  assert.deepEqual(
    (await rig.lines()).map((line) => line.match(/port_num="(\d)"/)?.[1]),
    ['2', '2'],
  )
})

test('a device that is gone takes all its index values along, and only those', async () => {
  const rig = new PrometheusRig({ indexes: ['port_num'] })
  const source = rig.source()
  rig.report(source, flow, record('a', 1, 1), record('a', 2, 1), record('b', 1, 1))
  const absence = { type: 'flow', field: '', code: 'gone', reason: 'gone', series: 'device="a"' }
  rig.report(source, absenceType, { time: 1_800_000_000_000_000_000n, ...absence })
  assert.deepEqual(
    (await rig.lines()).map((line) => line.split(' ')[0]),
    ['flow_level{device="b",port_num="1"}', 'flow_bytes_total{device="b",port_num="1"}'],
  )
})

test('an index cannot say that something is simulated', () => {
  const fault = { code: 'PRM_OPTION', message: /indexes of the Prometheus view name simulated/ }
  assert.throws(() => new PrometheusRig({ indexes: ['port_num', 'simulated'] }), fault)
})

test('indexes are a short list of names', () => {
  for (const indexes of ['port_num', Array(65).fill('a'), [1]])
    assert.throws(() => new PrometheusRig({ indexes: indexes as string[] }), { code: 'PRM_OPTION' })
})
