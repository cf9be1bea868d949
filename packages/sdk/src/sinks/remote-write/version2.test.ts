import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import SnappyJS from 'snappyjs'
import { needs } from '../../../../../test/debian.ts'
import { sondeError } from '../../../test/helper.ts'
import { type ArrivedSeries2, RemoteWritePeer } from '../../../test/remote-write-peer.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { buckets, counter, createSchema, defineType, label, timestamp, wallNs } from '../../index.ts'
import { countsOf } from '../../sink/sink.ts'
import type { RemoteWriteOptions } from './config.ts'
import { createRemoteWrite } from './remote-write.ts'

const HASTY = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
const START_NS = 1_790_000_000_000_000_000n
const schema = fileURLToPath(new URL('../../../test/remote-write-2.proto', import.meta.url))

testSink('remote_write', 'push', async (t, limits) => {
  const peer = await RemoteWritePeer.start(t)
  peer.kind = '2.0'
  return {
    sink: createRemoteWrite({ url: peer.http.url, version: '2.0', aheadLimitS: 31_536_000, ...limits }),
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
  peer.kind = '2.0'
  const external = { externalLabels: { instance: 'n1', job: '' } }
  const sink = createRemoteWrite({ url: peer.http.url, version: '2.0', ...external, ...HASTY, ...options })
  t.after(() => sink.close())
  return { peer, sink, source: new BatchSource() }
}

const waits = defineType('waits', 'Waits of a queue', {
  time: timestamp(),
  device: label(),
  wait_seconds: buckets('u32', [0.5, 1], { unit: 'seconds', help: 'Waits' }),
  wait_seconds_sum: counter('f64'),
  busy_seconds_total: counter('u32', { unit: 'seconds', help: 'Busy' }),
})

function wait(second: number, bins: readonly number[], busy: number) {
  const time = START_NS + BigInt(second) * 1_000_000_000n
  return { time, device: 'a', wait_seconds: bins, wait_seconds_sum: 4.5, busy_seconds_total: busy }
}

test(
  'protoc decodes symbols, metadata, samples, and the start of a counter that has fallen',
  needs('protoc'),
  async (t) => {
    const { peer, sink, source } = await open(t)
    sink.accept(source.batch(waits, [wait(0, [1, 2, 3], 7), wait(1, [1, 2, 3], 2), wait(2, [1, 2, 3], 4)]))
    await sink.flush()
    assert.equal(peer.http.headers['content-type'], 'application/x-protobuf;proto=io.prometheus.write.v2.Request')
    assert.equal(peer.http.headers['x-prometheus-remote-write-version'], '2.0.0')
    const [body = Buffer.alloc(0)] = peer.http.payloads
    const input = SnappyJS.uncompress(body)
    const args = ['--decode=v2.Request', `--proto_path=${schema.slice(0, schema.lastIndexOf('/'))}`, schema]
    const text = execFileSync('protoc', args, { input, encoding: 'utf8' })
    assert.deepEqual([...text.matchAll(/^symbols: "(.*)"$/gm)].map(([, symbol]) => symbol).slice(0, 8), [
      '',
      '__name__',
      'waits_wait_seconds_bucket',
      'device',
      'a',
      'instance',
      'n1',
      'le',
    ])
    const [, ofCounter = ''] = text.split(/^timeseries {$/m).slice(-2)
    assert.equal(
      ofCounter.replace(/\s+/g, ' ').replace(/labels_refs: \d+ /g, ''),
      ' samples { value: 7 timestamp: 1790000000000 } ' +
        'samples { value: 2 timestamp: 1790000001000 start_timestamp: 1790000000000 } ' +
        'samples { value: 4 timestamp: 1790000002000 start_timestamp: 1790000000000 } ' +
        'metadata { type: 1 help_ref: 16 unit_ref: 10 } } ',
    )
    const [first] = peer.series as readonly ArrivedSeries2[]
    assert.deepEqual([first?.type, first?.help, first?.unit], [3, 'Waits', 'seconds'])
  },
)

test('a histogram with a sum is a native histogram with custom edges, and ends as such', async (t) => {
  const { peer, sink, source } = await open(t, { nativeHistograms: true })
  sink.accept(source.batch(waits, [wait(0, [5, 2, 3], 7), wait(1, [6, 2, 4], 8)]))
  await sink.flush()
  await sink.close()
  const all = (peer.series as readonly ArrivedSeries2[]).filter(({ histograms }) => histograms.length > 0)
  assert.deepEqual(
    all.map(({ labels, samples }) => [labels, samples]),
    Array.from({ length: 2 }, () => [
      [
        ['__name__', 'waits_wait_seconds'],
        ['device', 'a'],
        ['instance', 'n1'],
      ],
      [],
    ]),
  )
  const [first, second, end] = all.flatMap(({ histograms }) => histograms)
  const form = { schema: -53, custom_values: [0.5, 1], positive_spans: [{ offset: 0, length: 3 }] }
  const common = { ...form, sum: 4.5, start_timestamp: 0, reset_hint: 0 }
  assert.deepEqual(
    [first, second],
    [
      { ...common, count_int: 10, positive_deltas: [5, -3, 1], timestamp: 1_790_000_000_000 },
      { ...common, count_int: 12, positive_deltas: [6, -4, 2], timestamp: 1_790_000_001_000 },
    ],
  )
  assert.deepEqual([end?.count_int, end?.sum, end?.timestamp], [0, Number.NaN, 1_790_000_001_001])
})

for (const kind of ['1.0', '1.0 with 400', 'silent 1.0', '1.0 with a word'] as const) {
  test(`a receiver that answers as "${kind}" gets the same records as 1.0, and 1.0 from then on, told once`, async (t) => {
    const { peer, sink, source } = await open(t)
    peer.kind = kind
    const warned = once(process, 'warning')
    sink.accept(source.ports({ a: 1, b: 2 }))
    await sink.flush()
    sink.accept(source.ports({ a: 3 }))
    await sink.flush()
    assert.deepEqual(peer.versions, ['2.0.0', '0.1.0', '0.1.0'])
    assert.deepEqual(
      peer.samples.map(({ value }) => value),
      [1, 2, 3],
    )
    assert.deepEqual([sink.stats.out, sink.stats.errors, sink.failing], [3, 0, ''])
    assert.match(countsOf(sink).fallback ?? '', /^the receiver does not take Remote-Write 2\.0/)
    const [warning] = (await warned) as [NodeJS.ErrnoException]
    assert.equal(warning.code, 'RWR_FALLBACK')
    assert.match(warning.message, /does not take Remote-Write 2\.0/)
  })
}

test('status and /metrics of an application show the fallback for as long as it lasts', async (t) => {
  const peer = await RemoteWritePeer.start(t)
  peer.kind = '2.0'
  const url = peer.http.url
  const remoteWrite = [
    { url, version: '2.0', ...HASTY },
    { url, version: '1.0', ...HASTY },
  ] as const
  const schema = createSchema({ name: 'app', prometheus: { endpoint: '127.0.0.1:0' }, export: { remoteWrite } })
  t.after(() => schema.close())
  schema.addType(portType)
  await schema.start()
  const source = schema.createSource({ id: 'ports', tag: 'ports' })
  const shown = async () => {
    const port = { time: wallNs(), device: 'a', rx_bytes_total: 1 }
    source.report(portType, port)
    await schema.flush()
    const { prometheus, sinks } = schema.status()
    const page = await (await fetch(`${prometheus}/metrics`)).text()
    const values = [...page.matchAll(/^sonde_sink_fallback{.*sink="(\w+)".*} (\d)/gm)].map((found) => found.slice(1))
    return { values, words: sinks.map(({ stats }) => stats.fallback).filter((words) => words !== undefined) }
  }
  assert.deepEqual(await shown(), { values: [['remote_write', '0']], words: [] })
  peer.kind = '1.0'
  const words = ['the receiver does not take Remote-Write 2.0, so it gets 1.0']
  assert.deepEqual(await shown(), { values: [['remote_write', '1']], words })
})

test('a receiver that refuses records of both versions keeps 2.0; what it has written in part is a refusal', async (t) => {
  const { peer, sink, source } = await open(t)
  const answer = peer.http.answer
  peer.http.answer = () => ({ status: 400, text: 'out of order' })
  sink.accept(source.ports({ a: 1 }))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /1 rejected: HTTP 400 out of order/))
  peer.http.answer = answer
  sink.accept(source.ports({ a: 2 }))
  await sink.flush()
  assert.deepEqual(peer.versions, ['2.0.0'])
  const written = { 'X-Prometheus-Remote-Write-Samples-Written': '1' }
  peer.http.answer = () => ({ status: 400, text: 'too old', headers: written })
  sink.accept(source.ports({ a: 3, b: 4 }))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /2 rejected: HTTP 400 too old \(1 written\)/))
  peer.http.answer = () => ({ status: 204, text: '', headers: written })
  sink.accept(source.ports({ a: 5, b: 6 }))
  await assert.rejects(sink.flush(), sondeError('DLV_LOST', /2 rejected: HTTP 204: 1 of 2 samples were written/))
})

test('native histograms need version 2.0', () => {
  const options = { url: 'http://127.0.0.1:9090/api/v1/write', nativeHistograms: true }
  assert.throws(() => createRemoteWrite(options), sondeError('RWR_OPTION', /^nativeHistograms of remote_write/))
})
