import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startFluentServer } from '../../../test/fluent-server.mjs'
import { ForwardPeer, packed } from '../../../test/forward-peer.ts'
import { forwardRig, HASTY } from '../../../test/forward-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
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
      return found.map(({ record }) => [String(record.device), BigInt(String(record[field]))])
    },
  }
})

const KEY = 'hush-hush-hush'

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
    const { peer, sink, send } = await forwardRig(t, { ...options, tag: '{source}.{type}' })
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
  const { peer, sink, send, devices } = await forwardRig(t)
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
  const { peer, sink, send, devices } = await forwardRig(t)
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
  const { peer, sink, send } = await forwardRig(t, { sharedKey: KEY })
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
