// Servers that fail, lie or attack.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { type ForwardPeer, packed } from '../../../test/forward-peer.ts'
import { forwardRig } from '../../../test/forward-rig.ts'
import { until } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType } from '../../../test/sink-records.ts'

/** A fault of a server, and the error that names it. */
interface Fault {
  readonly title: string
  readonly says: RegExp
  readonly answer: ForwardPeer['answer']
}

const FAULTS: readonly Fault[] = [
  { title: 'never answers', says: /^no answer within 1000 ms$/, answer: () => undefined },
  { title: 'closes', says: /^127\.0\.0\.1:\d+ (closed the connection|broke off)/, answer: (_, socket) => socket.end() },
  {
    title: 'acknowledges a chunk of another client',
    says: /acknowledged a chunk that it was not sent: "other"$/,
    answer: (_, socket) => socket.write(packed({ ack: 'other' })),
  },
  {
    title: 'acknowledges all but the last byte',
    says: /acknowledged a chunk that it was not sent/,
    answer: ([, , option], socket) =>
      socket.write(packed({ ack: (option as { readonly chunk: string }).chunk.slice(0, -1) })),
  },
  {
    title: 'answers without end',
    says: /sent more than \d+ bytes for one answer$/,
    answer: (_, socket) => pour(socket),
  },
  {
    title: 'forges the length of a text',
    says: /sent a message of more than 8192 bytes$/,
    answer: (_, socket) => socket.write(Buffer.of(0xdb, 0xff, 0xff, 0xff, 0xff)),
  },
  {
    title: 'forges the length of an array',
    says: /sent a message of more than 256 values$/,
    answer: (_, socket) => socket.write(Buffer.concat([Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff), Buffer.alloc(300)])),
  },
  {
    title: 'nests without end',
    says: /sent a message that nests more than 4 deep$/,
    answer: (_, socket) => socket.write(Buffer.alloc(100, 0x91)),
  },
  {
    title: 'speaks HTTP',
    says: /sent something else than an acknowledgement$/,
    answer: (_, s) => s.write('HTTP/1.1 400'),
  },
  {
    title: 'wants a key',
    says: /wants a shared key: set shared_key$/,
    answer: (_, socket) => socket.write(packed(['HELO', { nonce: Buffer.alloc(16), auth: '' }])),
  },
]

/** Writes until the connection breaks. */
function pour(socket: Socket): void {
  while (!socket.destroyed && socket.write(Buffer.alloc(16_384, 0xc0)));
  if (!socket.destroyed) socket.once('drain', () => pour(socket))
}

for (const { title, says, answer } of FAULTS) {
  test(`a server that ${title}: it is said, the same chunk goes again, and a neighbour gets everything`, async (t) => {
    const { peer, sink, send } = await forwardRig(t)
    const neighbour = await forwardRig(t)
    const seen: unknown[] = []
    peer.answer = (message, socket) => {
      seen.push((message[2] as { readonly chunk: unknown }).chunk)
      answer(message, socket)
    }
    send({ a: 1 })
    for (let n = 0; n < 20; n++) {
      neighbour.send({ [`n${n}`]: n })
      await neighbour.sink.flush()
    }
    assert.deepEqual([neighbour.sink.stats.out, neighbour.sink.stats.errors], [20, 0])
    await until(
      'it says why',
      () => says.test(sink.failing) || (sink.failing !== '' && assert.match(sink.failing, says)),
    )
    assert.equal(sink.stats.out, 0)
    peer.answer = (message, socket) => peer.take(message, socket)
    await sink.flush()
    assert.deepEqual([sink.stats.in, sink.stats.out, sink.failing], [1, 1, ''])
    assert.equal(new Set([...seen, ...peer.chunks]).size, 1, 'the id of a chunk never changes')
  })
}

test('an acknowledgement behind the time limit does not count: the chunk goes again', async (t) => {
  const { peer, sink, send } = await forwardRig(t, { timeoutMs: 200 })
  const outs: number[] = []
  let acknowledgeLate: () => void = () => undefined
  peer.answer = (message, socket) => {
    outs.push(sink.stats.out)
    if (outs.length === 1) acknowledgeLate = () => peer.take(message, socket)
    else if (outs.length === 2) acknowledgeLate()
    else peer.take(message, socket)
  }
  send({ a: 1 })
  await sink.flush()
  assert.ok(outs.length >= 3)
  assert.equal(Math.max(...outs), 0)
  assert.equal(new Set(peer.chunks).size, 1, 'the id of a chunk never changes')
  assert.deepEqual([sink.stats.in, sink.stats.out, sink.failing], [1, 1, ''])
})

test('a server that acknowledges half gets the other half only', async (t) => {
  const { peer, sink } = await forwardRig(t, { lingerMs: 50 })
  let answers = 0
  peer.answer = (message, socket) => {
    // Of the two messages of the first attempt the second is lost.
    if (++answers !== 2) peer.take(message, socket)
    else socket.end()
  }
  const source = new BatchSource()
  sink.accept(source.ports({ a: 1 }))
  sink.accept(source.batch(oddType, [ODD_RECORD]))
  await sink.flush()
  assert.deepEqual(
    peer.events.map(({ record }) => record.type_name),
    ['conformance_port', 'conformance.odd-type:1'],
  )
})

test('an acknowledgement behind other bytes, in pieces, counts', async (t) => {
  const { peer, sink, send } = await forwardRig(t)
  peer.answer = async ([, , option], socket) => {
    const { chunk } = option as { readonly chunk: string }
    const bytes = Buffer.concat([Buffer.of(0xc0, 0xc0), packed({ ack: chunk }), Buffer.of(0xc0)])
    for (const byte of bytes) await new Promise<void>((done) => socket.write(Buffer.of(byte), () => done()))
  }
  send({ a: 1 })
  await sink.flush()
  assert.deepEqual([sink.stats.out, sink.stats.errors], [1, 0])
})
