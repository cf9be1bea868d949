import assert from 'node:assert/strict'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import { attributesOf, decodeMetrics, encodeMessage, type MetricsRequest } from '../../../test/otlp-messages.ts'
import { OtlpReceiver } from '../../../test/otlp-receiver.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import {
  buckets,
  counter,
  createSource,
  defineType,
  gauge,
  label,
  optional,
  reportLog,
  text,
  timestamp,
} from '../../index.ts'
import type { OtlpOptions } from './config.ts'
import { createOtlp } from './otlp.ts'

testSink('otlp', 'push', async (t, limits) => {
  const receiver = await OtlpReceiver.start(t)
  return {
    sink: createOtlp({ url: receiver.url, ...limits }),
    peer: (behaviour) => receiver.behave(behaviour),
    // Integers of OTLP have a sign; larger values are doubles.
    held: (value) => (value < 2n ** 63n ? value : BigInt(Number(value))),
    read(type, field) {
      const points = receiver.points(type.metrics.get(field)).filter(({ scope }) => scope === type.name)
      return points.map(({ attributes, point: { asInt, asDouble } }) => {
        return [String(attributes.device), asInt === undefined ? BigInt(asDouble ?? 0) : BigInt(asInt)] as const
      })
    },
  }
})

const source = () => new BatchSource({ id: 'nic', tag: 'rdma', labels: { rack: 'r1' } })
const S = 10n ** 9n
const NOW = 1_800_000_000n * S
const QUICK = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }

async function started(t: TestContext, options: OtlpOptions = {}) {
  const receiver = await OtlpReceiver.start(t)
  const sink = createOtlp({ url: receiver.url, ...QUICK, ...options })
  t.after(() => sink.close())
  return { receiver, sink }
}

/** The points of a metric as their values with the distance from start to end, by order of arrival. */
function intervals(receiver: OtlpReceiver, name: string): (readonly [value: number, ns: bigint])[] {
  return receiver
    .points(name)
    .map(({ point }) => [
      Number(point.asInt ?? point.asDouble ?? point.count),
      BigInt(point.timeUnixNano) - BigInt(point.startTimeUnixNano ?? 0),
    ])
}

const countType = defineType('count', 'Counts and a size', {
  time: timestamp(),
  device: label(),
  bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes' }),
  seconds_total: optional(counter('f64', { unit: 'seconds' })),
  wait: buckets('u32', [0.5, 1]),
  wait_sum: counter('f64'),
  size: gauge('i32'),
})

test('golden request: resource, scope, sums, a histogram and a gauge', async (t) => {
  const { receiver, sink } = await started(t, { resource: { 'service.name': 'trainer' }, version: '1.2' })
  const record = { time: NOW, device: 'a', bytes_total: 2n ** 53n + 1n, wait: [1, 0, 2], wait_sum: 4.5 }
  sink.accept(source().batch(countType, [{ ...record, size: -3 }]))
  await sink.flush()
  const [{ resourceMetrics }] = receiver.taken('metrics').map(decodeMetrics) as [MetricsRequest]
  const [{ resource, scopeMetrics }] = resourceMetrics as [(typeof resourceMetrics)[0]]
  assert.deepEqual(attributesOf(resource?.attributes), { 'host.name': hostname(), 'service.name': 'trainer' })
  const [{ scope, metrics }] = scopeMetrics as [(typeof scopeMetrics)[0]]
  const attributes = [
    { key: 'device', value: { stringValue: 'a' } },
    { key: 'rack', value: { stringValue: 'r1' } },
  ]
  const times = { startTimeUnixNano: String(NOW), timeUnixNano: String(NOW) }
  const point = { ...times, asInt: '9007199254740993', attributes }
  assert.deepEqual(scope, {
    name: 'count',
    version: '1.2',
    attributes: [
      { key: 'sonde.source', value: { stringValue: 'nic' } },
      { key: 'sonde.source_tag', value: { stringValue: 'rdma' } },
    ],
  })
  const counts = { count: '3', sum: 4.5, bucketCounts: ['1', '0', '2'], explicitBounds: [0.5, 1] }
  assert.deepEqual(metrics, [
    {
      ...{ name: 'count_bytes_total', description: 'Bytes', unit: 'By' },
      sum: { dataPoints: [point], aggregationTemporality: 2, isMonotonic: true },
    },
    {
      ...{ name: 'count_wait', description: 'Counts and a size: wait' },
      histogram: { dataPoints: [{ ...times, ...counts, attributes }], aggregationTemporality: 2 },
    },
    {
      ...{ name: 'count_size', description: 'Counts and a size: size' },
      gauge: { dataPoints: [{ timeUnixNano: String(NOW), asInt: '-3', attributes }] },
    },
  ])
})

/** Records of one device: its values at seconds from 1 on. */
const rising = (values: readonly (number | bigint)[], first = 1) =>
  source().batch(
    countType,
    values.map((value, i) => ({
      ...{
        time: NOW + BigInt(first + i) * S,
        device: 'a',
        bytes_total: value,
        wait: [0, 0, Number(BigInt(value) & 0xffffn)],
      },
      ...{ wait_sum: Number(value) / 2, size: 0 },
    })),
  )

test('cumulative: a start stays, and moves to the record before a restart of the device', async (t) => {
  const { receiver, sink } = await started(t)
  for (const batch of [rising([5, 7]), rising([9, 2, 4], 3)]) {
    sink.accept(batch)
    await sink.flush()
  }
  const expected = [
    [5, 0n],
    [7, S],
    [9, 2n * S],
    [2, S],
    [4, 2n * S],
  ]
  assert.deepEqual(intervals(receiver, 'count_bytes_total'), expected)
  assert.deepEqual(intervals(receiver, 'count_wait'), expected)
})

test('delta: differences since the record before, across batches, restarts and clocks that are set back', async (t) => {
  const { receiver, sink } = await started(t, { temporality: 'delta' })
  for (const batch of [rising([5, 7]), rising([2n ** 63n + 9n, 2, 4], 3), rising([6, 9], 2)]) {
    sink.accept(batch)
    await sink.flush()
  }
  const expected = [
    [2, S],
    [Number(2n ** 63n + 2n), S],
    [2, S],
    [2, S],
    [3, S],
  ]
  assert.deepEqual(intervals(receiver, 'count_bytes_total'), expected)
  const [first] = receiver.points().filter(({ metric }) => metric.name === 'count_wait')
  assert.deepEqual([first?.metric.histogram?.aggregationTemporality, first?.point.sum], [1, 1])
  assert.deepEqual(sink.stats.dropped, new Map())
})

test('exactly 429, 502, 503 and 504 are sent again, and a connection that closes without an answer', async (t) => {
  for (const status of [429, 502, 503, 504, undefined]) {
    const { receiver, sink } = await started(t)
    receiver.answers.push(() => (status === undefined ? undefined : { status }))
    sink.accept(source().ports({ a: 1 }))
    await sink.flush()
    assert.deepEqual(
      receiver.requests.map((request) => request.status),
      [status ?? 0, 200],
    )
    assert.ok(receiver.requests[0]?.body.equals(receiver.requests[1]?.body ?? Buffer.alloc(0)))
  }
  for (const status of [400, 401, 403, 404, 408, 425, 500, 501, 505]) {
    const { receiver, sink } = await started(t)
    receiver.answers.push(() => ({ status, body: 'no' }))
    for (const device of ['a', 'b']) sink.accept(source().ports({ [device]: 1 }))
    await assert.rejects(sink.flush(), new RegExp(`HTTP ${status} no`))
    assert.deepEqual([sink.stats.dropped.get('rejected'), receiver.requests.length], [1, 2], `${status}`)
  }
})

test('the words of an error are those of its status message, without secrets', async (t) => {
  const { receiver, sink } = await started(t, { token: 'hush-hush' })
  const body = encodeMessage('Status', { code: 3, message: 'metric hush-hush is bad\nsecond' })
  receiver.answers.push(() => ({ status: 400, body, headers: { 'content-type': 'application/x-protobuf' } }))
  sink.accept(source().ports({ a: 1 }))
  await assert.rejects(sink.flush(), /HTTP 400 metric \(secret\) is bad\);/)
})

test('a partial success counts what was refused, and is never sent again', async (t) => {
  const { receiver, sink } = await started(t)
  const answer = (rejectedDataPoints: number, errorMessage: string) =>
    encodeMessage('ExportMetricsServiceResponse', { partialSuccess: { rejectedDataPoints, errorMessage } })
  const headers = { 'content-type': 'application/x-protobuf' }
  receiver.answers.push(() => ({ status: 200, headers, body: answer(2, 'too old') }))
  sink.accept(source().ports({ a: 1, b: 2, c: 3 }))
  await assert.rejects(sink.flush(), /2 rejected: partial success: too old/)
  assert.deepEqual([sink.stats.out, receiver.requests.length], [1, 1], 'each record has one point: the speed is absent')
  receiver.answers.push(() => ({ status: 200, headers, body: answer(0, 'will be refused soon') }))
  const warned = once(process, 'warning')
  sink.accept(source().ports({ a: 1 }))
  await sink.flush()
  const [warning] = await warned
  assert.match(String(warning), /the receiver warns: will be refused soon/)
  assert.deepEqual([sink.stats.out, sink.failing], [2, ''])
})

test('an answer of another type is no success: a portal that says 200 loses nothing', async (t) => {
  const { receiver, sink } = await started(t)
  receiver.answers.push(() => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>log in' }))
  receiver.answers.push(() => ({ status: 200, headers: { 'content-type': 'application/x-protobuf' }, body: '\xff' }))
  sink.accept(source().ports({ a: 1 }))
  await sink.flush()
  assert.deepEqual([receiver.requests.length, sink.stats.errors], [3, 2])
})

test('413 halves a request down to its records, and later requests are smaller from the start', async (t) => {
  const { receiver, sink } = await started(t)
  const limitBytes = 40_000
  const strict = (body: Buffer) => (body.length > limitBytes ? { status: 413 } : { status: 200 })
  for (let i = 0; i < 40; i++) receiver.answers.push(strict)
  const devices = (prefix: string) => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${prefix}${i}`, i]))
  sink.accept(source().ports(devices('a')))
  await sink.flush()
  const refused = receiver.requests.filter(({ status }) => status === 413).length
  sink.accept(source().ports(devices('b')))
  await sink.flush()
  const names = receiver.points().map(({ attributes }) => attributes.device)
  assert.equal(new Set(names).size, 2000)
  assert.ok(refused > 0)
  assert.equal(receiver.requests.filter(({ status }) => status === 413).length, refused)
  assert.deepEqual([sink.stats.out, sink.stats.dropped.size], [2000, 0])
})

test('a request is split before it exceeds its limit; types without metrics make none', async (t) => {
  const { receiver, sink } = await started(t, { requestBytesMax: 65_536 })
  sink.accept(source().ports(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`d${i}`, i]))))
  const note = defineType('note', 'No metric', { time: timestamp(), text: text() })
  sink.accept(source().batch(note, [{ time: NOW, text: 'x' }]))
  await sink.flush()
  assert.ok(receiver.requests.length > 3)
  for (const { body } of receiver.requests) assert.ok(body.length <= 65_536)
  assert.equal(receiver.points().length, 3000)
  const before = receiver.requests.length
  sink.accept(source().batch(note, [{ time: NOW, text: 'x' }]))
  await sink.flush()
  assert.deepEqual([receiver.requests.length, sink.stats.dropped.get('not_encoded')], [before, 2])
})

const TRACE = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174' }

test('log records go to their own address, as protobuf and as JSON', async (t) => {
  for (const protocol of ['http/protobuf', 'http/json'] as const) {
    const { receiver, sink } = await started(t, { protocol, compression: 'gzip' })
    const logs = createSource({ id: 'rank0', emit: (batch) => sink.accept({ ...batch, bytes: batch.bytes.slice() }) })
    const attributes = { step: 71, loss: 0.5, last: true, name: 'µ "x"', big: 2n ** 60n + 1n }
    reportLog(logs, { level: 'warn', body: 'slow\nstep', attributes, ...TRACE, time: NOW })
    reportLog(logs, { level: 10, body: 'plain', time: NOW + 1n })
    sink.accept(source().ports({ eth0: 2n ** 63n - 1n }))
    logs.emit()
    await sink.flush()
    const [request] = receiver.requests.filter(({ path }) => path === '/v1/logs')
    assert.equal(receiver.requests.length, 2)
    if (protocol === 'http/protobuf') {
      const [first, second] = receiver.logs()
      const { traceId = '', spanId = '', attributes: given, observedTimeUnixNano: _, ...rest } = first ?? {}
      assert.deepEqual(
        [traceId, spanId].map((id) => Buffer.from(id, 'base64').toString('hex')),
        [TRACE.traceId, TRACE.spanId],
      )
      assert.deepEqual(attributesOf(given), {
        step: '71',
        loss: 0.5,
        last: true,
        name: 'µ "x"',
        big: `${2n ** 60n + 1n}`,
      })
      const body = { stringValue: 'slow\nstep' }
      assert.deepEqual(rest, { timeUnixNano: String(NOW), severityNumber: 13, severityText: 'warn', body })
      assert.deepEqual([second?.severityNumber, second?.severityText, second?.traceId], [10, 'info2', undefined])
      continue
    }
    assert.equal(request?.headers['content-type'], 'application/json')
    const { resourceLogs } = JSON.parse(String(request?.body))
    const [first] = resourceLogs[0].scopeLogs[0].logRecords
    assert.deepEqual(
      [first.timeUnixNano, first.severityNumber, first.traceId, first.spanId],
      [String(NOW), 13, TRACE.traceId, TRACE.spanId],
    )
    assert.deepEqual(first.attributes[0], { key: 'step', value: { intValue: '71' } })
    const { resourceMetrics } = JSON.parse(String(receiver.requests.find(({ path }) => path === '/v1/metrics')?.body))
    const [metric] = resourceMetrics[0].scopeMetrics[0].metrics
    assert.deepEqual([metric.sum.aggregationTemporality, metric.sum.isMonotonic], [2, true])
    assert.equal(metric.sum.dataPoints[0].asInt, '9223372036854775807')
  }
})

test('labels have the names of the conventions, and hardware its type and id', async (t) => {
  const { receiver, sink } = await started(t)
  const entity = { kind: 'gpu', key: ['uuid'] }
  const gpu = defineType('gpu', 'A GPU', { time: timestamp(), uuid: label(), watts: gauge('f64') }, { entity })
  const of = new BatchSource({ id: 'app', labels: { namespace: 'ml', pod: 'trainer-0', simulated: 'true' } })
  sink.accept(of.batch(gpu, [{ time: NOW, uuid: 'GPU-1', watts: 300 }]))
  await sink.flush()
  const [point] = receiver.points()
  assert.deepEqual(point?.attributes, { uuid: 'GPU-1', simulated: 'true', 'hw.type': 'gpu', 'hw.id': 'GPU-1' })
  assert.equal(point?.resource['k8s.pod.name'], 'trainer-0')
  assert.equal(point?.resource['k8s.namespace.name'], 'ml')
})
