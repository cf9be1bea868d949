// Forged answers of an OTLP receiver. An honest receiver beside it gets all records without an error.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { encodeMessage } from '../../../test/otlp-messages.ts'
import { type OtlpAnswer, OtlpReceiver } from '../../../test/otlp-receiver.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { createOtlp } from './otlp.ts'

const QUICK = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
const SECRET = 'hush-hush'
const RECORDS = 3
const GROWTH_LIMIT_BYTES = 64 << 20
/** Unpacked 256 MiB: parts of gzip that follow each other are unpacked together. */
const BOMB = Buffer.concat(Array<Buffer>(256).fill(gzipSync(Buffer.alloc(1 << 20))))

const protobuf = (body: Uint8Array, more: Readonly<Record<string, string>> = {}): OtlpAnswer => ({
  ...{ status: 200, headers: { 'content-type': 'application/x-protobuf', ...more }, body },
})
const json = (body: string): OtlpAnswer => ({ status: 200, headers: { 'content-type': 'application/json' }, body })
const partial = (rejectedDataPoints: string, errorMessage = '') =>
  encodeMessage('ExportMetricsServiceResponse', { partialSuccess: { rejectedDataPoints, errorMessage } })
/** The count of refused points as the bytes of a varint, without a check. */
const counted = (...varint: number[]) => Buffer.from([0x0a, varint.length + 1, 0x08, ...varint])

/** Answers that are no OTLP: the same records are sent again. */
const UNREADABLE: Readonly<Record<string, OtlpAnswer>> = {
  'a body that is longer than the limit': protobuf(partial('1', 'x'.repeat(1 << 20))),
  'a message that is longer than the body': protobuf(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x08, 1])),
  'a length of 64 bits': protobuf(Buffer.from([0x0a, ...Buffer.alloc(9, 0xff), 0x01])),
  'an inner text that is longer than its message': protobuf(Buffer.from([0x0a, 2, 0x12, 0x7f])),
  'a varint without end': protobuf(counted(...Buffer.alloc(20, 0x80))),
  'a group': protobuf(Buffer.from([0x0b, 0x0b, 0x0b, 0x0c])),
  'a body that is packed': protobuf(gzipSync(partial('1')), { 'content-encoding': 'gzip' }),
  'a bomb of gzip': protobuf(BOMB, { 'content-encoding': 'gzip' }),
  'JSON that is cut off': json('{"partialSuccess":{"rejectedDataPoints":"1"'),
  'deep JSON': json('['.repeat(60_000)),
  'a JSON count that is a text': json('{"partialSuccess":{"rejectedDataPoints":"many"}}'),
  'a JSON count beyond 64 bits': json(`{"partialSuccess":{"rejectedDataPoints":"${'9'.repeat(40)}"}}`),
  'a JSON count that is an object': json('{"partialSuccess":{"rejectedDataPoints":{"toString":1}}}'),
}

/** Answers with a count: so many records are refused, and nothing is sent again. */
const COUNTED: Readonly<Record<string, readonly [refused: number, answer: OtlpAnswer]>> = {
  'a negative count': [0, protobuf(partial('-1'))],
  'the lowest count': [0, protobuf(partial('-9223372036854775808'))],
  'a negative count in JSON': [0, json('{"partialSuccess":{"rejectedDataPoints":"-1"}}')],
  'the highest count': [RECORDS, protobuf(partial('9223372036854775807'))],
  'more points than were sent': [RECORDS, json('{"partialSuccess":{"rejectedDataPoints":1000000}}')],
  'words that are not UTF-8': [1, protobuf(Buffer.from([0x0a, 6, 0x08, 1, 0x12, 2, 0xff, 0xc3]))],
  'words with the secret, lines and codes of a terminal': [1, protobuf(partial('1', `${SECRET}\x1b[2J\r\nnext`))],
  'unknown fields': [1, protobuf(Buffer.concat([Buffer.from([0x7a, 3, 1, 2, 3]), partial('1')]))],
}

test('forged answers lose no record that the receiver did not refuse, take no memory and show no secret', async (t) => {
  const [hostile, honest] = [await OtlpReceiver.start(t), await OtlpReceiver.start(t)]
  const open = ({ url }: OtlpReceiver) => createOtlp({ url, token: SECRET, ...QUICK })
  const [sink, neighbour] = [open(hostile), open(honest)]
  t.after(() => Promise.all([sink.close(), neighbour.close()]))
  const source = new BatchSource()
  let sent = 0
  const give = async () => {
    sent += RECORDS
    for (const each of [sink, neighbour]) each.accept(source.ports({ a: sent, b: sent, c: sent }))
    await neighbour.flush()
    return sink.flush().then(
      () => '',
      (error: Error) => error.message,
    )
  }
  const rssBytes = process.memoryUsage.rss()
  for (const [title, answer] of Object.entries(UNREADABLE)) {
    const { errors } = sink.stats
    const requests = hostile.requests.length
    hostile.answers.push(() => answer)
    assert.equal(await give(), '', title)
    assert.deepEqual([sink.stats.errors - errors, hostile.requests.length - requests], [1, 2], title)
  }
  assert.ok(process.memoryUsage.rss() - rssBytes < GROWTH_LIMIT_BYTES)
  assert.deepEqual([sink.stats.out, sink.stats.dropped.size], [sent, 0])
  let lost = 0
  for (const [title, [refused, answer]] of Object.entries(COUNTED)) {
    const requests = hostile.requests.length
    hostile.answers.push(() => answer)
    const words = await give()
    lost += refused
    assert.deepEqual([sink.stats.dropped.get('rejected') ?? 0, hostile.requests.length - requests], [lost, 1], title)
    assert.doesNotMatch(words, new RegExp(`${SECRET}|\\p{Cc}`, 'u'), title)
  }
  assert.deepEqual([sink.stats.in, sink.stats.out], [sent, sent - lost])
  assert.deepEqual([neighbour.stats.out, neighbour.stats.errors, neighbour.stats.dropped.size], [sent, 0, 0])
  assert.equal(honest.points().length, sent)
})
