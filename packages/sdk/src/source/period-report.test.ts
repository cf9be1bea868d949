import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource, sondeError } from '../../test/helper.ts'
import type { Batch } from '../schema/batch.ts'
import { periodType } from '../schema/builtin.ts'
import { gauge, label, timestamp } from '../schema/field.ts'
import { Periods } from '../schema/periods.ts'
import { defineType, type RecordType } from '../schema/record-type.ts'
import { wallNs } from './clock.ts'
import { createSource } from './source.ts'

const port = defineType('port', 'A port', { time: timestamp(), device: label(), heat: gauge('f64') })
const fan = defineType('fan', 'A fan', { time: timestamp(), fan: label(), turns: gauge('f64') }, { inTurns: true })
const heat = (device: string) => ({ time: wallNs(), device, heat: 1 })

test('the period of a source comes before its first records, and again when it changes or a minute has passed', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const { source, emitted } = recordingSource({ intervalMs: 500, bufferBytes: 4096 })
  for (let i = 0; i < 1000; i++) source.report(port, heat('a'))
  assert.deepEqual([emitted[0]?.type, emitted[1]?.type], [periodType, port])
  const told = () => emitted.splice(0).flatMap(({ type, records }) => (type === periodType ? records : []))
  assert.deepEqual(
    told().map(({ time: _, ...said }) => said),
    [{ type: '', device: '', report_us: 500_000n }],
  )
  source.emit()
  assert.deepEqual(told(), [], 'nothing new')
  source.setPeriod(port, { device: 'b', sampleUs: 100, drainUs: 51_200, reportUs: 250_000 })
  source.emit()
  assert.deepEqual(
    told().map(({ time: _, ...said }) => said),
    [{ type: 'port', device: 'b', sample_us: 100n, drain_us: 51_200n, report_us: 250_000n }],
  )
  source.setPeriod(port, { device: 'b', sampleUs: 100, drainUs: 51_200, reportUs: 250_000 })
  t.mock.timers.tick(60_000)
  source.emit()
  assert.equal(told().length, 2, 'all of them, once a minute')
})

test('a period is that of type and device, else of the type, else of the source; turns have none', () => {
  const periods = new Periods()
  const source = createSource({ id: 'nic', intervalMs: 1000, emit: (batch: Batch) => periods.take(batch) })
  const of = (device: string) => periods.ofSeries(source.info, port, { device, rack: 'r1' })
  source.emit()
  assert.equal(of('a'), 0, 'who reports nothing has no period')
  source.report(port, heat('a'))
  source.emit()
  assert.deepEqual([of('a'), periods.ofSeries(source.info, fan, { fan: '1' })], [1000, 0])
  source.setPeriod(port, { reportUs: 5_000_000 })
  source.setPeriod(port, { device: 'a', reportUs: 100 })
  source.emit()
  assert.deepEqual([of('a'), of('b')], [0.1, 5000])
  assert.deepEqual([periods.longestOf(source.info, port), periods.longestOf(source.info)], [5000, 5000])
})

test('a change is of each type that has periods of the device, else of all types; a device that left has none', () => {
  const { source, emitted } = recordingSource({ intervalMs: 500 })
  const told = () => {
    source.emit()
    const rows = emitted.splice(0).flatMap(({ type, records }) => (type === periodType ? records : []))
    return rows.map(({ time: _, ...said }) => said)
  }
  source.setPeriod(port, { device: 'a', sampleUs: 100, drainUs: 51_200, reportUs: 250_000 })
  source.report(port, heat('a'))
  told()
  source.changePeriod('a', { drainUs: 20_000 })
  source.changePeriod('b', { drainUs: 30_000 })
  assert.deepEqual(told(), [
    { type: 'port', device: 'a', sample_us: 100n, drain_us: 20_000n, report_us: 250_000n },
    { type: '', device: 'b', drain_us: 30_000n, report_us: 500_000n },
  ])
  source.forgetPeriods('a')
  source.changePeriod('a', { reportUs: 1000 })
  assert.deepEqual(told(), [{ type: '', device: 'a', report_us: 1000n }])
})

test('the device of a series is what its entity is named by, not a label of the same text', () => {
  const fields = { time: timestamp(), pod: label(), gpu: label(), heat: gauge('f64') }
  const board = defineType('board', 'A board', fields, { entity: { kind: 'gpu', key: ['gpu'] } })
  const node = defineType('node', 'A node', fields, { entity: { kind: 'host', key: [] } })
  const periods = new Periods()
  const source = createSource({ id: 'gpus', intervalMs: 1000, emit: (batch: Batch) => periods.take(batch) })
  source.setPeriod(board, { device: 'gpu0', reportUs: 10_000_000 })
  source.setPeriod(undefined, { device: 'gpu1', reportUs: 20_000_000 })
  source.report(board, { time: wallNs(), pod: 'gpu0', gpu: 'gpu1', heat: 1 })
  source.emit()
  const of = (type: RecordType, pod: string, gpu: string) => periods.ofSeries(source.info, type, { pod, gpu })
  assert.deepEqual(
    [of(board, 'x', 'gpu0'), of(board, 'gpu0', 'gpu1'), of(board, 'gpu0', 'gpu2')],
    [10_000, 20_000, 1000],
  )
  assert.equal(of(node, 'gpu0', 'gpu0'), 1000, 'a host has no device')
  assert.equal(periods.longestOf(source.info, node), 20_000)
})

test('a period that is none is refused, with what is allowed', () => {
  const { source } = recordingSource()
  for (const reportUs of [0, -1, Number.NaN, 1e12, '5' as never])
    assert.throws(() => source.setPeriod(port, { reportUs }), sondeError('SRC_PERIOD', /reportUs is .*; allowed: /))
  for (let i = 0; i < 4096; i++) source.setPeriod(port, { device: `${i}`, reportUs: 1000 })
  assert.throws(() => source.setPeriod(port, { device: 'more', reportUs: 1 }), sondeError('SRC_PERIOD', /4096/))
})

test('what a record says that is no period, or one of more than a day, is no period', () => {
  const periods = new Periods()
  const source = createSource({ id: 'odd', intervalMs: 1000, emit: (batch: Batch) => periods.take(batch) })
  for (const report_us of [0n, 86_400_000_001n, 2n ** 63n, 2n ** 64n - 1n])
    source.report(periodType, { time: wallNs(), type: 'port', device: 'a', report_us })
  source.report(port, heat('a'))
  source.emit()
  assert.deepEqual([periods.ofSeries(source.info, port, { device: 'a' }), periods.longestOf(source.info)], [1000, 1000])
})

test('of a source that names more types and devices than there is room for, the first keep their periods', () => {
  const periods = new Periods()
  const source = createSource({ id: 'greedy', intervalMs: 1000, emit: (batch: Batch) => periods.take(batch) })
  for (let i = 0; i < 4000; i++) source.setPeriod(port, { device: `d${i}`, reportUs: 2_000_000 })
  source.report(port, heat('a'))
  source.emit()
  const of = (device: string) => periods.ofSeries(source.info, port, { device })
  assert.deepEqual([of('d0'), of('d3999'), periods.longestOf(source.info)], [2000, 1000, 2000])
})
