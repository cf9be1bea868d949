// What OTLP does when things end, are refused, or become too many.
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { OtlpReceiver } from '../../../test/otlp-receiver.ts'
import { SimulatedTimers } from '../../../test/simulated-timers.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import {
  buckets,
  counter,
  createSchema,
  defineType,
  gauge,
  label,
  optional,
  reportLog,
  timestamp,
  wallNs,
} from '../../index.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { OtlpOptions } from './config.ts'
import { createOtlp } from './otlp.ts'
import { OtlpSeries } from './otlp-series.ts'
import { Resources } from './resources.ts'

const QUICK = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
const MS = 1_000_000n

async function started(t: TestContext, options: OtlpOptions = {}) {
  const receiver = await OtlpReceiver.start(t)
  const sink = createOtlp({ url: receiver.url, ...QUICK, ...options })
  t.after(() => sink.close())
  return { receiver, sink, source: new BatchSource() }
}

/** The points of a metric by device: their numbers, and `end` for a point without a value. */
function pointsOf(receiver: OtlpReceiver, metric: string | undefined): Record<string, (number | 'end')[]> {
  const all: Record<string, (number | 'end')[]> = {}
  for (const { attributes, point } of receiver.points(metric)) {
    const number = point.asInt ?? point.asDouble ?? point.count
    assert.equal(number === undefined, point.flags === 1, 'a point has a number, or the flag')
    const device = String(attributes.device)
    all[device] = [...(all[device] ?? []), number === undefined ? 'end' : Number(number)]
  }
  return all
}

const heat = defineType('heat', 'A device that is warm', {
  time: timestamp(),
  device: label(),
  lane: label(),
  watts: optional(gauge('f64')),
  waits: optional(buckets('u32', [1])),
  waits_sum: optional(counter('f64')),
})
const RX = portType.metrics.get('rx_bytes_total')

test('a value that is gone, a device that is gone, and all series at the end have a last point without a value', async (t) => {
  for (const protocol of ['http/protobuf', 'http/json'] as const) {
    const { receiver, sink, source } = await started(t, { protocol })
    const time = wallNs()
    const full = { device: 'a', lane: '', watts: 5, waits: [1, 1], waits_sum: 3 }
    const rows = [full, { device: 'a', lane: '' }, { ...full, device: 'b' }]
    sink.accept(
      source.batch(
        heat,
        rows.map((row, i) => ({ ...row, time: time + BigInt(i) * MS })),
      ),
    )
    const gone = { time, type: 'heat', series: 'device="b",lane=""', field: '', code: 'gone', reason: 'unplugged' }
    sink.accept(source.batch(absenceType, [gone]))
    sink.accept(source.ports({ c: 7 }))
    await sink.flush()
    await until('the device has ended', () => receiver.requests.length > 1)
    await sink.close()
    if (protocol === 'http/json') {
      const flags = receiver.requests.flatMap(({ body }) => String(body).match(/"flags":1/g) ?? [])
      assert.equal(flags.length, 5)
      continue
    }
    assert.deepEqual(pointsOf(receiver, 'heat_watts'), { a: [5, 'end'], b: [5, 'end'] })
    assert.deepEqual(pointsOf(receiver, 'heat_waits'), { a: [2, 'end'], b: [2, 'end'] })
    assert.deepEqual(pointsOf(receiver, RX), { c: [7, 'end'] })
    const ofC = receiver.points(RX).map(({ point }) => BigInt(point.timeUnixNano))
    assert.equal((ofC[1] ?? 0n) - (ofC[0] ?? 0n), MS, 'the last point stands behind the others')
    assert.deepEqual([sink.stats.out, [...sink.stats.dropped]], [5, []], 'last points count as no records')
  }
})

test('the series of a client that is gone end behind its records; a later record begins them anew', async (t) => {
  const { receiver, sink, source } = await started(t)
  const client = new BatchSource({ id: 'client' })
  sink.accept(client.ports({ c: 1 }))
  sink.accept(source.ports({ a: 1 }))
  await sink.flush()
  sink.retire?.(client.ports({}).source)
  sink.accept(source.ports({ a: 2 }))
  await sink.flush()
  await until('the client has ended', () => pointsOf(receiver, RX).c?.length === 2)
  sink.accept(client.ports({ c: 3 }))
  await sink.flush()
  assert.deepEqual(pointsOf(receiver, RX), { a: [1, 2], c: [1, 'end', 3] })
  const starts = receiver.points(RX).filter(({ attributes }) => attributes.device === 'c')
  assert.equal(starts[2]?.point.startTimeUnixNano, starts[2]?.point.timeUnixNano)
})

test('a device that is back before its end was sent has no last point', async (t) => {
  const { receiver, sink, source } = await started(t, { lingerMs: 50 })
  const gone = { time: wallNs(), type: portType.name, series: 'device="a"', field: '', code: 'gone', reason: '' }
  sink.accept(source.ports({ a: 1 }))
  sink.accept(source.batch(absenceType, [gone]))
  sink.accept(source.ports({ a: 2 }))
  await sink.flush()
  assert.deepEqual([receiver.requests.length, pointsOf(receiver, RX)], [1, { a: [1, 2] }])
})

test('a receiver that refuses last points costs no record', async (t) => {
  const { receiver, sink, source } = await started(t)
  const gone = { time: wallNs(), type: portType.name, series: 'device="a"', field: '', code: 'gone', reason: '' }
  receiver.answers.push(
    () => ({ status: 200 }),
    () => ({ status: 400, body: 'no value' }),
  )
  sink.accept(source.ports({ a: 1 }))
  sink.accept(source.batch(absenceType, [gone]))
  await sink.flush()
  sink.accept(source.ports({ a: 2 }))
  await sink.flush()
  assert.deepEqual([sink.stats.in, sink.stats.out, sink.stats.dropped.size, sink.failing], [3, 3, 0, ''])
  assert.deepEqual(pointsOf(receiver, RX), { a: [1, 2] })
})

test('a series without a record for five minutes ends; beyond the limit, silent series are forgotten first', () => {
  let nowMs = 0
  const series = new OtlpSeries('cumulative', new Resources({}, 'host', ''), () => nowMs, 4)
  const source = new BatchSource()
  const take = (...devices: string[]) =>
    series.points(source.ports(Object.fromEntries(devices.map((device) => [device, 1]))))
  take('a', 'b')
  nowMs += 299_000
  take('b')
  assert.deepEqual(series.ended.blocks(0), [])
  nowMs += 11_000
  const [block, ...others] = series.ended.blocks(0)
  assert.deepEqual([block?.to, others, series.size], [1, [], 1], 'a has ended')
  nowMs += 301_000
  take('c', 'd', 'e')
  assert.equal(series.size, 4)
  take('f')
  assert.equal(series.size, 4, 'b was silent')
  take('g', 'h')
  assert.ok(series.size <= 4, 'without a silent series all are forgotten')
  // Series that come and end leave nothing behind.
  for (let i = 0; i < 50; i++) {
    take(`x${i}`)
    nowMs += 400_000
    series.ended.blocks(0)
  }
  assert.equal(series.size, 0)
})

test('the pause that Retry-After asks for is kept', async (t) => {
  const timers = new SimulatedTimers()
  const { receiver, sink, source } = await started(t, { timers })
  receiver.answers.push(() => ({ status: 429, headers: { 'retry-after': '7' } }))
  sink.accept(source.ports({ a: 1 }))
  await until('it was refused for now', async () => {
    await timers.advance(0)
    return sink.stats.errors === 1
  })
  await timers.advance(6_900)
  assert.equal(receiver.requests.length, 1)
  await timers.advance(200)
  await until('it has arrived', async () => {
    await timers.advance(1)
    return sink.stats.out === 1
  })
  let isClosed = false
  const closed = sink.close().then(() => (isClosed = true))
  await until('it is closed', async () => {
    await timers.advance(100)
    return isClosed
  })
  await closed
})

test('refused records are dead letters with their reason, and are sent again from there', async (t) => {
  const folder = temporaryFolder(t)
  const letters = join(folder, 'letters')
  const { receiver, sink, source } = await started(t, { deadLetters: letters })
  receiver.answers.push(() => ({ status: 404, body: 'no such tenant' }))
  sink.accept(source.ports({ a: 1, b: 2 }))
  await assert.rejects(sink.flush(), /2 rejected: HTTP 404 no such tenant/)
  sink.accept(source.ports({ c: 3 }))
  await sink.flush()
  await sink.close()
  const { a: lost } = pointsOf(receiver, RX)
  assert.deepEqual(lost, ['end'])
  const queueDir = join(folder, 'again')
  renameSync(letters, queueDir)
  const again = createOtlp({ url: receiver.url, ...QUICK, queueDir })
  t.after(() => again.close())
  await until('the letters have left', () => again.stats.in > 0 && again.queuedRecords === 0)
  const { a, b } = pointsOf(receiver, RX)
  assert.deepEqual([a, b, again.stats.out], [['end', 1], ['end', 2], 2])
  assert.deepEqual([...again.stats.dropped], [['not_encoded', 1]], 'the reason is not sent')
})

test('a program has it with createSchema: metrics, an info metric and log records', async (t) => {
  const receiver = await OtlpReceiver.start(t)
  const schema = createSchema({ name: 'trainer', export: { otlp: { url: receiver.url, lingerMs: 0 } } })
  t.after(() => schema.close())
  const labels = { device: label(), firmware: label() }
  const info = { time: timestamp(), ...labels, up: gauge('u8', { metric: 'nic_info', help: 'Texts of a NIC' }) }
  schema.addType(portType)
  const nic = schema.addType(defineType('nic', 'A NIC', info))
  await schema.start()
  const source = schema.createSource({ id: 'rank0', tag: 'training' })
  source.report(portType, { time: wallNs(), device: 'eth7', rx_bytes_total: 5 })
  source.report(nic, { time: wallNs(), device: 'eth7', firmware: '28.43', up: 1 })
  reportLog(source, { body: 'ready', attributes: { rank: 0 } })
  await schema.flush()
  assert.deepEqual(pointsOf(receiver, RX), { eth7: [5] })
  const [point] = receiver.points('nic_info')
  assert.equal(point?.resource['service.name'], 'trainer')
  const { device, firmware } = point?.attributes ?? {}
  assert.deepEqual([device, firmware, point?.point.asInt], ['eth7', '28.43', '1'])
  assert.ok(point?.metric.gauge)
  assert.deepEqual(
    receiver.logs().map(({ body }) => body?.stringValue),
    ['ready'],
  )
})
