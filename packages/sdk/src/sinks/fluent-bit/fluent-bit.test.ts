import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startFluentServer } from '../../../test/fluent-server.mjs'
import { ForwardPeer, packed } from '../../../test/forward-peer.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import type { FluentBitOptions } from './config.ts'
import { createFluentBit } from './fluent-bit.ts'

testSink('fluent_bit', 'push', async (t, limits) => {
  const peer = await ForwardPeer.start(t)
  return {
    sink: createFluentBit({ port: peer.port, ...limits }),
    neverRefuses: true,
    peer: (behaviour) => peer.behave(behaviour),
    read(type, field) {
      const found = peer.events.filter(({ record }) => record.type_name === type.name && field in record)
      return new Map(found.map(({ record }) => [String(record.device), BigInt(String(record[field]))]))
    },
  }
})

/** Options under which a test is soon over. */
const HASTY: FluentBitOptions = { lingerMs: 0, timeoutMs: 1000, backoffInitialMs: 10, backoffMaxMs: 20 }
const KEY = 'hush-hush-hush'

async function rig(t: TestContext, options: FluentBitOptions = {}) {
  const peer = await ForwardPeer.start(t)
  const sink = createFluentBit({ port: peer.port, ...HASTY, ...options })
  t.after(() => sink.close())
  const source = new BatchSource({ id: 'nic', bufferBytes: 1 << 16 })
  const send = (ports: Readonly<Record<string, number>>) => sink.accept(source.ports(ports))
  const devices = () => peer.events.map(({ record }) => record.device)
  return { peer, sink, send, devices }
}

test('every mode, layout and compression arrives', async (t) => {
  for (const options of [
    { mode: 'message' },
    { mode: 'forward' },
    { mode: 'packed_forward' },
    { compression: 'gzip' },
    { requireAck: false },
    { mode: 'message', requireAck: false },
    { mode: 'forward', layout: 'custom' },
  ] as const) {
    const { peer, sink, send } = await rig(t, { ...options, tag: '{source}.{type}' })
    send({ a: 1, b: 2 })
    await sink.flush()
    await until('both are there', () => peer.events.length === 2)
    const values = peer.events.map(({ record }) => (record.values ?? record) as Record<string, unknown>)
    assert.deepEqual(
      values.map(({ device, rx_bytes_total }) => [device, rx_bytes_total]),
      [
        ['a', 1n],
        ['b', 2n],
      ],
      JSON.stringify(options),
    )
    assert.deepEqual([...new Set(peer.events.map(({ tag }) => tag))], ['nic.conformance_port'])
  }
})

test('a connection is kept, and a server that closes it while it is idle is no failure', async (t) => {
  const { peer, sink, send, devices } = await rig(t)
  for (const device of ['a', 'b']) {
    send({ [device]: 1 })
    await sink.flush()
  }
  assert.equal(peer.connections, 1)
  await peer.closeConnections()
  send({ c: 1 })
  await sink.flush()
  assert.deepEqual(devices(), ['a', 'b', 'c'])
  assert.deepEqual([peer.connections, sink.stats.errors], [2, 0])
})

test('goes through a Unix socket', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-forward-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'forward.sock')
  const peer = await ForwardPeer.start(t, path)
  const sink = createFluentBit({ path, ...HASTY })
  t.after(() => sink.close())
  sink.accept(new BatchSource().ports({ a: 1 }))
  await sink.flush()
  assert.equal(peer.events.length, 1)
})

test('the next server takes over when the first is gone', async (t) => {
  const { peer, sink, send, devices } = await rig(t)
  const first = await ForwardPeer.start(t)
  const both = createFluentBit({ port: first.port, endpoints: [`127.0.0.1:${peer.port}`], ...HASTY })
  t.after(() => both.close())
  await first.behave('gone')
  both.accept(new BatchSource().ports({ a: 1 }))
  await both.flush()
  send({ b: 1 })
  await sink.flush()
  assert.deepEqual(devices(), ['a', 'b'])
})

/** A fault of a server, and what the sink says about it. */
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
    const { peer, sink, send } = await rig(t)
    const neighbour = await rig(t)
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

test('a server that acknowledges half gets the other half only', async (t) => {
  const { peer, sink } = await rig(t, { lingerMs: 50 })
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
  const { peer, sink, send } = await rig(t)
  peer.answer = async ([, , option], socket) => {
    const { chunk } = option as { readonly chunk: string }
    const bytes = Buffer.concat([Buffer.of(0xc0, 0xc0), packed({ ack: chunk }), Buffer.of(0xc0)])
    for (const byte of bytes) await new Promise<void>((done) => socket.write(Buffer.of(byte), () => done()))
  }
  send({ a: 1 })
  await sink.flush()
  assert.deepEqual([sink.stats.out, sink.stats.errors], [1, 0])
})

const SECURITY = { serverHostname: 'far', sharedKey: KEY, authorize: true, userDict: { me: 'p-word-p' } }

test('a server that others wrote takes key and user, and refuses a wrong key, a wrong password and no key', async (t) => {
  const server = await startFluentServer({ security: SECURITY })
  t.after(() => server.close())
  const login = {
    port: server.port,
    sharedKey: KEY,
    username: 'me',
    password: 'p-word-p',
    selfHostname: 'near',
    ...HASTY,
  }
  const sink = createFluentBit(login)
  sink.accept(new BatchSource().ports({ a: 7 }))
  await sink.flush()
  assert.deepEqual(
    server.events.map(({ tag, record }) => [tag, record.device, record.rx_bytes_total]),
    [['sonde.conformance_port', 'a', 7]],
  )
  await sink.close()
  for (const [change, says] of [
    [{ sharedKey: 'wrong-wrong' }, /refuses shared key, user or password: /],
    [{ password: 'wrong-wrong' }, /refuses shared key, user or password: /],
    [{ sharedKey: undefined, username: undefined, password: undefined }, /wants a shared key|closed the connection/],
  ] as const) {
    const wrong = createFluentBit({ ...login, ...change, closeTimeoutMs: 0 })
    wrong.accept(new BatchSource().ports({ b: 8 }))
    await until('it says why', () => wrong.failing !== '')
    assert.match(wrong.failing, says)
    assert.doesNotMatch(wrong.failing, /hush|wrong|p-word/)
    await wrong.close()
  }
  assert.equal(server.events.length, 1)
})

test('a server without HELO, and a server that does not know the key, are told apart in words', async (t) => {
  const { peer, sink, send } = await rig(t, { sharedKey: KEY })
  send({ a: 1 })
  await until('it says why', () => sink.failing !== '')
  assert.match(sink.failing, /^127\.0\.0\.1:\d+ did not send within 500 ms its HELO: .* Fluent Bit before 3\.0$/)
  assert.equal(peer.events.length, 0, 'without proof no record is sent')
  peer.greet = (socket) =>
    socket.write(packed(['HELO', { nonce: Buffer.alloc(16), auth: Buffer.alloc(0), keepalive: true }]))
  peer.answer = (_, socket) => socket.write(packed(['PONG', true, '', 'far', '0'.repeat(128)]))
  await until('it says why', () => /does not prove that it has the shared key$/.test(sink.failing))
  peer.answer = (_, socket) => socket.write(packed(['PONG', false, `no\n${KEY}`, 'far', '']))
  await until('it says why', () => /password: no \(secret\)$/.test(sink.failing))
})

test('refuses options that do not go together', () => {
  const refused = (options: FluentBitOptions, words: RegExp) =>
    assert.throws(() => createFluentBit(options), sondeError('DLV_CONNECTION', words))
  refused({ mode: 'forward', compression: 'gzip' }, /^compression is "gzip" in mode forward; allowed: none, or/)
  refused({ path: '/a', tls: { enabled: true } }, /^tls\.enabled is true for a Unix socket/)
  refused({ path: '/a', endpoints: ['b:1'] }, /^endpoints is given beside path/)
  refused({ tls: { caFile: '/a' } }, /^tls is given, but not enabled/)
  refused({ username: 'me' }, /^password is missing/)
  refused({ username: 'me', password: 'x' }, /^username is given without a key/)
  refused({ sharedKeyFile: '/nowhere' }, /^sharedKeyFile is "\/nowhere", which cannot be read/)
  assert.throws(() => createFluentBit({ port: 0 }), sondeError('FWD_OPTION', /^port of fluentBit is 0/))
  assert.throws(() => createFluentBit({ tag: 'a b' }), sondeError('FWD_OPTION', /^tag of fluentBit/))
})
