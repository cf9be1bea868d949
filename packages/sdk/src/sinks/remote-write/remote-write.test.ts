import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import SnappyJS from 'snappyjs'
import { sondeError, until } from '../../../test/helper.ts'
import { decode1, RemoteWritePeer, samplesOf } from '../../../test/remote-write-peer.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { buckets, counter, defineType, gauge, label, optional, timestamp, wallNs } from '../../index.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { RemoteWriteOptions } from './config.ts'
import { createRemoteWrite } from './remote-write.ts'

const HASTY = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
/** Node makes the marker of staleness quiet when it reads it as a number. */
const STALE_BITS = 0x7ff8000000000002n

testSink('remote_write', 'push', async (t, limits) => {
  const peer = await RemoteWritePeer.start(t)
  return {
    sink: createRemoteWrite({ url: peer.http.url, aheadLimitS: 31_536_000, ...limits }),
    held: (value) => BigInt(Number(value)),
    peer: (behaviour) => peer.http.behave(behaviour),
    read(type, field) {
      const metric = type.metrics.get(field)
      const of = peer.samples.filter(({ labels, value }) => labels.__name__ === metric && !Number.isNaN(value))
      return of.map(({ labels, value }) => [labels.device ?? '', BigInt(value)] as const)
    },
  }
})

async function open(t: Parameters<typeof RemoteWritePeer.start>[0], options: Partial<RemoteWriteOptions> = {}) {
  const peer = await RemoteWritePeer.start(t)
  const sink = createRemoteWrite({
    url: peer.http.url,
    externalLabels: { instance: 'n1', job: '' },
    ...HASTY,
    ...options,
  })
  t.after(() => sink.close())
  return { peer, sink, source: new BatchSource() }
}

function bitsOf(value: number): bigint {
  return new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n
}

test('headers, and the series of a record: labels sorted, with name, without empty values', async (t) => {
  const { peer, sink } = await open(t, { externalLabels: { instance: 'n1', job: '', zone: 'z', device: 'other' } })
  const source = new BatchSource({ labels: { Hostname: 'h', empty: '', zone: 'own' } })
  sink.accept(source.ports({ eth0: 2n ** 63n }))
  await sink.flush()
  const { headers } = peer.http
  assert.deepEqual(
    ['content-type', 'content-encoding', 'x-prometheus-remote-write-version', 'user-agent'].map(
      (name) => headers[name],
    ),
    ['application/x-protobuf', 'snappy', '0.1.0', 'sonde'],
  )
  assert.deepEqual(
    peer.series.map(({ labels, samples }) => [labels, samples.map(({ value }) => value)]),
    [
      [
        [
          ['Hostname', 'h'],
          ['__name__', 'conformance_port_rx_bytes_total'],
          ['device', 'eth0'],
          ['instance', 'n1'],
          ['zone', 'own'],
        ],
        [2 ** 63],
      ],
    ],
  )
})

const waits = defineType('waits', 'Waits of a queue', {
  time: timestamp(),
  device: label(),
  wait_seconds: buckets('u32', [0.5, 1], { unit: 'seconds' }),
  wait_seconds_sum: counter('f64'),
  busy_seconds_total: counter('f64', { unit: 'seconds', labels: { mode: 'user' }, metric: 'cpu_seconds_total' }),
  heat: optional(gauge('f64')),
})

test('a histogram, constant labels, an absent value and a NaN arrive as in /metrics', async (t) => {
  const { peer, sink, source } = await open(t)
  const record = { device: 'a', wait_seconds: [1, 2, 3], wait_seconds_sum: 4.5, busy_seconds_total: 7 }
  const times = [1_790_000_000_000_000_000n, 1_790_000_000_001_000_000n, 1_790_000_000_002_000_000n]
  const [first = 0n, second = 0n, third = 0n] = times
  sink.accept(
    source.batch(waits, [
      { time: first, ...record, heat: Number.NaN },
      { time: second, ...record },
      { time: third, ...record, heat: -1.5 },
    ]),
  )
  await sink.flush()
  const lines = peer.series.map(({ labels, samples }) => [
    labels
      .filter(([name]) => name !== 'device' && name !== 'instance')
      .map((pair) => pair.join('='))
      .join(),
    samples.map(({ value }) => value),
  ])
  assert.deepEqual(lines, [
    ['__name__=waits_wait_seconds_bucket,le=0.5', [1, 1, 1]],
    ['__name__=waits_wait_seconds_bucket,le=1.0', [3, 3, 3]],
    ['__name__=waits_wait_seconds_bucket,le=+Inf', [6, 6, 6]],
    ['__name__=waits_wait_seconds_count', [6, 6, 6]],
    ['__name__=waits_wait_seconds_sum', [4.5, 4.5, 4.5]],
    ['__name__=cpu_seconds_total,mode=user', [7, 7, 7]],
    ['__name__=waits_heat', [Number.NaN, Number.NaN, -1.5]],
  ])
  const plain = Buffer.from(SnappyJS.uncompress(peer.http.payloads[0] ?? Buffer.alloc(0)))
  assert.ok(plain.includes(Buffer.from('020000000000f07f', 'hex')), 'the marker has its own bits')
  const heat = peer.series.at(-1)?.samples ?? []
  assert.deepEqual(
    heat.map(({ value, timeMs }) => [bitsOf(value), timeMs]),
    [
      [0x7ff8000000000001n, 1_790_000_000_000],
      [STALE_BITS, 1_790_000_000_001],
      [bitsOf(-1.5), 1_790_000_000_002],
    ],
  )
})

test('series that are gone, and all at the end, get a marker of staleness behind their newest sample', async (t) => {
  const { peer, sink, source } = await open(t)
  sink.accept(source.ports({ a: 1, b: 2 }))
  const gone = {
    time: wallNs(),
    type: portType.name,
    series: 'device="a"',
    field: '',
    code: 'gone',
    reason: 'unplugged',
  }
  sink.accept(source.batch(absenceType, [gone]))
  await sink.flush()
  sink.accept(source.ports({ b: 3 }))
  const client = new BatchSource({ id: 'client' })
  sink.accept(client.ports({ c: 4 }))
  await sink.flush()
  sink.retire?.(client.ports({}).source)
  // The source ends once a later record has left.
  sink.accept(source.ports({ b: 5 }))
  await sink.flush()
  assert.equal(peer.samples.filter(({ value }) => bitsOf(value) === STALE_BITS).length, 2)
  await sink.close()
  const of = (device: string) => peer.samples.filter(({ labels }) => labels.device === device)
  assert.deepEqual(
    ['a', 'b', 'c'].map((device) => [
      ...new Set(of(device).map(({ value }) => (bitsOf(value) === STALE_BITS ? 'stale' : value))),
    ]),
    [
      [1, 'stale'],
      [2, 3, 5, 'stale'],
      [4, 'stale'],
    ],
  )
  for (const device of ['a', 'b', 'c']) {
    const times = of(device).map(({ timeMs }) => timeMs)
    assert.deepEqual(times, [...new Set(times)].sort())
  }
})

test('an absence ends its series, also with an empty label and a label whose name changes', async (t) => {
  const { peer, sink, source } = await open(t)
  const labels = { 'lane.id': label(), port: label() }
  const lanes = defineType('lane', '', { time: timestamp(), device: label(), ...labels, ok: gauge('u8') })
  sink.accept(source.batch(lanes, [{ time: wallNs(), device: 'a', 'lane.id': '1', port: '', ok: 1 }]))
  const series = 'device="a",lane.id="1",port=""'
  const gone = { time: wallNs(), type: 'lane', series, field: '', code: 'gone', reason: '' }
  sink.accept(source.batch(absenceType, [gone]))
  await sink.flush()
  sink.accept(source.ports({ b: 1 }))
  await sink.flush()
  const of = peer.samples.filter(({ labels: { __name__ } }) => __name__ === 'lane_ok').map(({ value }) => bitsOf(value))
  assert.deepEqual(of, [bitsOf(1), STALE_BITS])
})

test('records that no receiver takes are refused alone, with the reason: late ones, and ones of a clock that is ahead', async (t) => {
  const { peer, sink, source } = await open(t)
  const nowNs = BigInt(Date.now()) * 1_000_000n
  const at = (ms: bigint, device: string, rx: number) => ({
    time: nowNs + ms * 1_000_000n,
    device,
    rx_bytes_total: rx,
  })
  sink.accept(source.batch(portType, [at(0n, 'a', 1), at(0n, 'b', 2)]))
  await sink.flush()
  sink.accept(source.batch(portType, [at(-1000n, 'a', 3), at(3_600_000n, 'b', 4), at(1n, 'a', 5), at(1n, 'b', 6)]))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /2 rejected/))
  assert.deepEqual([sink.stats.out, sink.stats.dropped.get('rejected')], [4, 2])
  assert.deepEqual(peer.samples.map(({ value }) => value).sort(), [1, 2, 5, 6])
})

test('of two sources that report a series, the first has it until it ends', async (t) => {
  const { peer, sink, source } = await open(t)
  const other = new BatchSource({ id: 'other' })
  sink.accept(source.ports({ a: 1 }))
  sink.accept(other.ports({ a: 2, b: 3 }))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /1 rejected: another source reports the same series/))
  sink.retire?.(source.ports({}).source)
  sink.accept(other.ports({ b: 4 }))
  await sink.flush()
  assert.ok(peer.samples.some(({ value }) => Number.isNaN(value)))
  sink.accept(other.ports({ a: 5 }))
  await sink.flush()
  const values = peer.samples.filter(({ labels }) => labels.device === 'a').map(({ value }) => value)
  assert.deepEqual(values, [1, Number.NaN, 5])
})

const heat = (name: string, field = gauge('f64', { unit: 'celsius', metric: 'heat_celsius' })) =>
  defineType(name, '', { time: timestamp(), device: label(), heat: field, load: gauge('f64') })
const heatOf = (value: number, device = 'a') => ({ time: wallNs(), device, heat: value, load: value })
const CLIENT = { client: 7n, sequence: 1n }

/** Values of a metric by order of arrival, for one device. */
function valuesOf(peer: RemoteWritePeer, metric: string, device = 'a') {
  const of = peer.samples.filter(({ labels }) => labels.__name__ === metric && labels.device === device)
  return of.map(({ value }) => (Number.isNaN(value) ? 'stale' : value))
}

test('of two types with one metric name and another unit, the first sends it; the second is refused in words', async (t) => {
  const { peer, sink, source } = await open(t)
  const other = new BatchSource({ id: 'other' })
  const kelvin = heat('second', counter('f64', { metric: 'heat_celsius' }))
  sink.accept(source.batch(heat('first'), [heatOf(1)]))
  sink.accept(other.batch(kelvin, [heatOf(2), heatOf(3, 'b')]))
  const words =
    /2 rejected: heat_celsius of second.heat: it is a counter without unit \(a scalar\) in second, but a gauge/
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', words))
  assert.deepEqual([valuesOf(peer, 'heat_celsius'), valuesOf(peer, 'heat_celsius', 'b')], [[1], []])
  assert.deepEqual([valuesOf(peer, 'second_load'), valuesOf(peer, 'second_load', 'b')], [[2], [3]], 'others arrive')
  assert.deepEqual([sink.stats.out, sink.stats.dropped.get('rejected')], [1, 2])

  sink.retire?.(source.ports({}).source)
  sink.accept(other.batch(kelvin, [heatOf(4)]))
  await assert.rejects(sink.flush(), /1 rejected/)
  sink.accept(other.batch(kelvin, [heatOf(5)]))
  await sink.flush()
  assert.deepEqual(valuesOf(peer, 'heat_celsius'), [1, 'stale', 5], 'the name is free once the first type has ended')
})

test('of two types that report one series, the first sends it until it ends', async (t) => {
  const { peer, sink, source } = await open(t)
  const other = new BatchSource({ id: 'other' })
  sink.accept(source.batch(heat('first'), [heatOf(1)]))
  sink.accept(other.batch(heat('second'), [heatOf(2), heatOf(3, 'b')]))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /1 rejected: another type reports the same series/))
  sink.retire?.(source.ports({}).source)
  sink.accept(other.batch(heat('second'), [heatOf(4, 'b')]))
  await sink.flush()
  sink.accept(other.batch(heat('second'), [heatOf(5)]))
  await sink.flush()
  assert.deepEqual(valuesOf(peer, 'heat_celsius'), [1, 'stale', 5])
  assert.deepEqual(valuesOf(peer, 'heat_celsius', 'b'), [3, 4])
  const times = peer.samples.filter(({ labels }) => labels.__name__ === 'heat_celsius' && labels.device === 'a')
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a.timeMs - b.timeMs),
  )
})

test('a client keeps no metric name from a source of this process', async (t) => {
  const { peer, sink, source } = await open(t)
  const client = new BatchSource({ id: 'client' })
  const counts = heat('counts', counter('f64', { metric: 'heat_celsius' }))
  sink.accept({ ...client.batch(counts, [heatOf(1, 'x')]), page: CLIENT })
  await sink.flush()
  sink.accept(source.batch(heat('own'), [heatOf(2)]))
  await sink.flush()
  sink.accept({ ...client.batch(counts, [heatOf(3, 'x')]), page: { ...CLIENT, sequence: 2n } })
  await assert.rejects(sink.flush(), /1 rejected: heat_celsius of counts.heat/)
  assert.deepEqual([valuesOf(peer, 'heat_celsius'), valuesOf(peer, 'heat_celsius', 'x')], [[2], [1, 'stale']])
})

test('a request has as many samples as receivers take, and a body that arrived is not sent again', async (t) => {
  const { peer, sink, source } = await open(t, { requestSamplesMax: 100 })
  let failures = 0
  let requests = 0
  peer.http.answer = () =>
    ++requests === 2 && failures++ < 3 ? { status: 503, text: 'busy' } : { status: 204, text: '' }
  sink.accept(source.ports(Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`d${i}`, i]))))
  await sink.flush()
  assert.deepEqual(
    peer.http.payloads.map((body) => samplesOf([...decode1(body)]).length),
    [100, 100, 50],
  )
  assert.equal(sink.stats.errors, 1)
})

test('what waits in a queue on disk during an outage is sent by the next process, in order', async (t) => {
  const peer = await RemoteWritePeer.start(t)
  const queueDir = mkdtempSync(join(tmpdir(), 'sonde-remote-write-'))
  t.after(() => rmSync(queueDir, { recursive: true }))
  const options = { url: peer.http.url, queueDir, ...HASTY, closeTimeoutMs: 100 }
  await peer.http.behave('gone')
  const source = new BatchSource()
  const before = createRemoteWrite(options)
  for (let n = 0; n < 20; n++) before.accept(source.ports({ a: n, [`d${n}`]: n }))
  await before.flush()
  await before.close()
  await peer.http.behave('takes')
  const after = createRemoteWrite(options)
  t.after(() => after.close())
  await until('all has left', () => after.stats.in === 40 && after.queuedRecords === 0)
  const of = peer.samples.filter(({ labels }) => labels.device === 'a')
  assert.deepEqual(
    of.map(({ value }) => value),
    Array.from({ length: 20 }, (_, n) => n),
  )
  assert.deepEqual([after.stats.out, after.stats.dropped.size], [40, 0])
})

test('a header of the protocol, and an option that is none, are refused', () => {
  const url = 'http://127.0.0.1:9090/api/v1/write'
  assert.throws(
    () => createRemoteWrite({ url, headers: { 'User-Agent': 'me' } }),
    sondeError('RWR_OPTION', /^headers of remote_write has User-Agent; allowed: headers except/),
  )
  assert.throws(
    () => createRemoteWrite({ url, externalLabels: { 'a-b': 'c' } }),
    sondeError('RWR_OPTION', /^externalLabels/),
  )
})
