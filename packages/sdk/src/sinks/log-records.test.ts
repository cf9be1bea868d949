// A log record and a record of a series, given to each sink.
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { BulkServer } from '../../test/bulk-server.ts'
import { readFiles, temporaryFolder } from '../../test/files-rig.ts'
import { ForwardPeer } from '../../test/forward-peer.ts'
import { HttpPeer } from '../../test/http-peer.ts'
import { RemoteWritePeer } from '../../test/remote-write-peer.ts'
import { portType } from '../../test/sink-records.ts'
import { type Batch, createSource, reportLog, type Sink, wallNs } from '../index.ts'
import { createEs } from './es/es.ts'
import { createFile } from './file/file.ts'
import { createFiles } from './files/files.ts'
import { createFluentBit } from './fluent-bit/fluent-bit.ts'
import { createInflux } from './influx/influx.ts'
import { createJsonl } from './jsonl/jsonl.ts'
import { createPrometheus } from './prometheus/prometheus.ts'
import { createRemoteWrite } from './remote-write/remote-write.ts'
import { createStdout } from './stdout/stdout.ts'

/** A sink, and the text that has arrived at its far end. */
type Open = (t: TestContext) => Promise<{ readonly sink: Sink; arrived(): string | Promise<string> }>

const BODY = 'lost a "rank"'
const OBJECT = '"attributes":{"rank":3,"job":"a"}'
const TEXT = `"attributes":${JSON.stringify('{"rank":3,"job":"a"}')}`
const SOON = { lingerMs: 0 }

/** Sinks of records, with the form of the attributes. */
const KEPT: Readonly<Record<string, readonly [attributes: string, open: Open]>> = {
  jsonl: [OBJECT, (t) => http(t, (url) => createJsonl({ url, ...SOON }))],
  influx: [
    `attributes=${JSON.stringify('{"rank":3,"job":"a"}')}`,
    (t) => http(t, (url) => createInflux({ url, bucket: 'b', ...SOON })),
  ],
  es: [
    OBJECT,
    async (t) => {
      const [peer, server] = [await HttpPeer.start(t), new BulkServer()]
      peer.answer = server.answer
      return { sink: createEs({ url: peer.url, ...SOON }), arrived: () => JSON.stringify(server.documents) }
    },
  ],
  file: [
    OBJECT,
    async (t) => {
      const path = join(temporaryFolder(t), 'records')
      return { sink: createFile({ path, ...SOON }), arrived: () => readFileSync(path, 'utf8') }
    },
  ],
  'file as CSV': [
    '"{""rank"":3,""job"":""a""}"',
    async (t) => {
      const path = join(temporaryFolder(t), 'records')
      return { sink: createFile({ path, format: 'csv', ...SOON }), arrived: () => readFileSync(path, 'utf8') }
    },
  ],
  stdout: [
    OBJECT,
    async (t) => {
      const path = join(temporaryFolder(t), 'output')
      const fd = openSync(path, 'a')
      t.after(() => closeSync(fd))
      return { sink: createStdout(SOON, fd), arrived: () => readFileSync(path, 'utf8') }
    },
  ],
  fluent_bit: [
    OBJECT,
    async (t) => {
      const peer = await ForwardPeer.start(t)
      const records = () => peer.events.map(({ record }) => record)
      return { sink: createFluentBit({ port: peer.port, ...SOON }), arrived: () => json(records()) }
    },
  ],
  files: [
    TEXT,
    async (t) => {
      const dataRoot = temporaryFolder(t)
      const batches = () => readFiles(dataRoot).flatMap((file) => file.batches)
      return { sink: createFiles({ dataRoot }), arrived: () => json(batches().flatMap(({ records }) => records)) }
    },
  ],
}

/** Sinks of series. */
const SERIES: Readonly<Record<string, Open>> = {
  async remote_write(t) {
    const peer = await RemoteWritePeer.start(t)
    const sink = createRemoteWrite({ url: peer.http.url, ...SOON })
    return { sink, arrived: () => json(peer.samples) }
  },
  async prometheus() {
    const sink = createPrometheus()
    const text = async () => {
      const { chunks, release } = await sink.render()
      release()
      return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString()
    }
    return { sink, arrived: text }
  },
}

describe('log records', { concurrency: true }, () => {
  for (const [name, [attributes, open]] of Object.entries(KEPT)) {
    test(`${name} keeps them`, async (t) => {
      const { sink, text } = await givenTo(open, t)
      assert.ok(text.includes(attributes), text)
      assert.ok(text.includes(name === 'file as CSV' ? BODY.replaceAll('"', '""') : JSON.stringify(BODY)), text)
      assert.match(text, /eth7/)
      assert.deepEqual([sink.stats.out, sink.stats.dropped.size], [2, 0])
    })
  }
  for (const [name, open] of Object.entries(SERIES)) {
    test(`${name} has nothing of them, and loses nothing`, async (t) => {
      const { sink, text } = await givenTo(open, t)
      assert.match(text, /eth7/)
      assert.doesNotMatch(text, /sonde_log|rank/)
      assert.deepEqual([sink.stats.in, [...sink.stats.dropped.keys()].filter((key) => key !== 'not_encoded')], [2, []])
    })
  }
})

async function givenTo(open: Open, t: TestContext): Promise<{ readonly sink: Sink; readonly text: string }> {
  const { sink, arrived } = await open(t)
  t.after(() => sink.close())
  const emit = (batch: Batch) => sink.accept({ ...batch, bytes: batch.bytes.slice() })
  const source = createSource({ id: 'rank0', emit })
  reportLog(source, { level: 'error', body: BODY, attributes: { rank: 3, job: 'a' } })
  source.report(portType, { time: wallNs(), device: 'eth7', rx_bytes_total: 1 })
  source.flush()
  // Rejects if anything was lost.
  await sink.flush()
  return { sink, text: await arrived() }
}

async function http(t: TestContext, open: (url: string) => Sink): ReturnType<Open> {
  const peer = await HttpPeer.start(t)
  return { sink: open(peer.url), arrived: () => peer.bodies.join('') }
}

function json(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
}
