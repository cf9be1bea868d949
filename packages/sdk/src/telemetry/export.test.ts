import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readFiles, temporaryFolder } from '../../test/files-rig.ts'
import { sondeError, until } from '../../test/helper.ts'
import { HttpPeer } from '../../test/http-peer.ts'
import { counter, gauge, label, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { type Sink, sinkStats } from '../sink/sink.ts'
import { wallNs } from '../source/clock.ts'
import type { SchemaOptions } from './config.ts'
import { createSchema, type Schema } from './schema.ts'

const link = defineType('link', 'A link', {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64'),
  tx_bytes_total: counter('u64'),
  heat: gauge('f64'),
})

interface Line {
  readonly source: string
  readonly record: Readonly<Record<string, unknown>>
}

const linesOf = ({ bodies }: HttpPeer): Line[] =>
  bodies.flatMap((body) => body.split('\n').flatMap((line): Line[] => (line === '' ? [] : [JSON.parse(line)])))

async function started(t: TestContext, options: Omit<SchemaOptions, 'name'>): Promise<Schema> {
  const schema = createSchema({ name: 'links', ...options })
  schema.addType(link)
  await schema.start()
  t.after(() => schema.close().catch(() => undefined))
  return schema
}

const record = (n: number) => ({ time: wallNs(), device: 'nic', rx_bytes_total: n, tx_bytes_total: n * 2, heat: 0.5 })

test('a destination that is configured twice gets its own columns, its own sources and tags', async (t) => {
  const [received, hot] = [await HttpPeer.start(t), await HttpPeer.start(t)]
  const schema = await started(t, {
    export: {
      jsonl: [
        { url: received.url, fieldSet: ['[link]', '^rx'], sources: ['east*'] },
        { name: 'hot', url: hot.url, fieldSet: ['[link]', '^heat$'], tags: ['lab'], sources: ['!east-2'] },
      ],
    },
  })
  const sources = [
    ['east-1', 'lab'],
    ['east-2', 'lab'],
    ['west', 'lab'],
    ['west', 'yard'],
  ].map(([id = '', tag = '']) => schema.createSource({ id, tag }))
  for (const [index, source] of sources.entries()) source.report(link, record(index + 1))
  await schema.flush()
  assert.deepEqual(
    linesOf(received).map(({ source, record: { time: _, ...rest } }) => ({ source, ...rest })),
    [
      { source: 'east-1', device: 'nic', rx_bytes_total: '1' },
      { source: 'east-2', device: 'nic', rx_bytes_total: '2' },
    ],
  )
  assert.deepEqual(
    linesOf(hot).map(({ source, record: { time: _, ...rest } }) => ({ source, ...rest })),
    [
      { source: 'east-1', device: 'nic', heat: 0.5 },
      { source: 'west', device: 'nic', heat: 0.5 },
    ],
  )
  assert.deepEqual(
    schema.status().sinks.map(({ name, stats }) => [name, stats.in, stats.out]),
    [
      ['jsonl', 2, 2],
      ['hot', 2, 2],
    ],
  )
})

test('a field set in a file is used as it is now, and one that is not there is told by start', async (t) => {
  const folder = temporaryFolder(t)
  const peer = await HttpPeer.start(t)
  const options: Omit<SchemaOptions, 'name'> = {
    prometheus: { endpoint: '127.0.0.1:0', fsetDir: folder },
    export: { jsonl: { url: peer.url, fieldSet: 'narrow', lingerMs: 0 } },
  }
  await assert.rejects(started(t, options), sondeError('TEL_OPTION', /there is no field set "narrow"; there are none/))
  writeFileSync(join(folder, 'narrow.fset'), '[link]\nheat\n')
  const schema = await started(t, options)
  const source = schema.createSource({ tag: '' })
  source.report(link, record(1))
  await schema.flush()
  assert.deepEqual(Object.keys(linesOf(peer).at(-1)?.record ?? {}), ['time', 'device', 'heat'])
  writeFileSync(join(folder, 'narrow.fset'), '[link]\ntx\n')
  await until('the new set is used', async () => {
    source.report(link, record(2))
    await schema.flush()
    return 'tx_bytes_total' in (linesOf(peer).at(-1)?.record ?? {})
  })
  rmSync(folder, { recursive: true })
  source.report(link, record(3))
  await schema.flush()
  assert.deepEqual(Object.keys(linesOf(peer).at(-1)?.record ?? {}), ['time', 'device', 'tx_bytes_total'])
  mkdirSync(folder)
})

test('a flush and who waits for room wait for no destination that does not acknowledge', async (t) => {
  const peer = await HttpPeer.start(t)
  await peer.behave('hangs')
  const slow = { url: peer.url, acknowledges: false, queueLimitBytes: 65_536, batchBytesMax: 4096, closeTimeoutMs: 0 }
  const dataRoot = temporaryFolder(t)
  const schema = await started(t, { export: { jsonl: slow, files: { dataRoot } } })
  const source = schema.createSource({ tag: '' })
  for (let i = 0; i < 2000; i++) {
    await source.ready()
    source.report(link, record(i))
  }
  await schema.flush()
  const [files, jsonl] = schema.status().sinks
  assert.deepEqual([files?.stats.out, jsonl?.stats.out], [2000, 0])
  assert.equal(readFiles(dataRoot).flatMap(({ batches }) => batches.flatMap(({ records }) => records)).length, 2000)
  await peer.behave('takes')
})

test('two destinations that keep things keep them in different places', () => {
  const dataRoot = '/tmp/same'
  const same = () => createSchema({ name: 'test', export: { files: [{ dataRoot }, { dataRoot }] } })
  assert.throws(
    same,
    sondeError('TEL_OPTION', /export\.files\[1\] keeps its records in \/tmp\/same, as export\.files\[0\] does/),
  )
  const twice = () =>
    createSchema({
      name: 'test',
      export: {
        jsonl: [
          { url: 'http://a', name: 'x' },
          { url: 'http://b', name: 'x' },
        ],
      },
    })
  assert.throws(twice, sondeError('TEL_OPTION', /export\.jsonl\[1\]\.name is "x", as export\.jsonl\[0\] has it/))
})

test('of three destinations of which one hangs and one fails, the third gets everything', async (t) => {
  const [hanging, failing, well] = [await HttpPeer.start(t), await HttpPeer.start(t), await HttpPeer.start(t)]
  await hanging.behave('hangs')
  await failing.behave('fails')
  const urls = [hanging.url, failing.url].map((url) => ({ url, acknowledges: false, lingerMs: 0, closeTimeoutMs: 0 }))
  const throwing: Sink = {
    name: 'throwing',
    stats: sinkStats(),
    accept() {
      throw new Error('broken')
    },
    flush: async () => undefined,
    close: async () => undefined,
  }
  const schema = await started(t, { export: { jsonl: [...urls, { url: well.url }] }, sinks: [throwing] })
  const source = schema.createSource({ tag: '' })
  for (let i = 0; i < 5000; i++) {
    await source.ready()
    source.report(link, record(i))
  }
  await assert.rejects(
    schema.flush(),
    sondeError('TEL_LOST', /: throwing dropped 5000 records \(5000 failed: accept threw: broken\)$/),
  )
  assert.equal(linesOf(well).length, 5000)
  await until('one says why it fails', () => failing.headers['content-type'] === 'application/x-ndjson')
  assert.deepEqual([linesOf(hanging), linesOf(failing)], [[], []])
})

test('/metrics of an application shows how its destinations fare', async (t) => {
  const peer = await HttpPeer.start(t)
  await peer.behave('fails')
  const schema = await started(t, {
    prometheus: { endpoint: '127.0.0.1:0' },
    export: { jsonl: { url: peer.url, lingerMs: 0, backoffInitialMs: 10, backoffMaxMs: 10, closeTimeoutMs: 100 } },
  })
  const source = schema.createSource({ tag: 'a' })
  source.report(link, { ...record(1), time: wallNs() - 90_000_000_000n })
  source.emit()
  const metricOf = async (name: string) => {
    const text = await (await fetch(`${schema.status().prometheus}/metrics`)).text()
    return Number(new RegExp(`^sonde_sink_${name}\\{[^}]*sink="jsonl"[^}]*\\} (\\S+)`, 'm').exec(text)?.[1] ?? NaN)
  }
  await until('the destination fails', async () => (await metricOf('up')) === 0)
  assert.ok((await metricOf('lag_seconds')) >= 90)
  assert.ok((await metricOf('queued_bytes')) > 256)
  assert.ok((await metricOf('queue_limit_bytes')) >= 65_536)
  assert.deepEqual([await metricOf('records_in_total'), await metricOf('queued_records')], [1, 1])
  await peer.behave('takes')
  await until('it is well again', async () => (await metricOf('up')) === 1)
  assert.deepEqual([await metricOf('lag_seconds'), await metricOf('queued_records')], [0, 0])
  assert.equal(await metricOf('records_out_total'), 1)
})
