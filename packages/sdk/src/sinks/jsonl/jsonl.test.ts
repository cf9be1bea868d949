import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError, until } from '../../../test/helper.ts'
import { HttpPeer } from '../../../test/http-peer.ts'
import { BatchSource, ODD_RECORD, oddType } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { encodeLines } from './encode.ts'
import { createJsonl } from './jsonl.ts'

interface Line {
  readonly type: string
  readonly record: Readonly<Record<string, unknown>>
}

const linesOf = (body: string): Line[] => body.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))

testSink('jsonl', 'push', async (t, limits) => {
  const peer = await HttpPeer.start(t)
  return {
    sink: createJsonl({ url: peer.url, ...limits }),
    peer: (behaviour) => peer.behave(behaviour),
    read(type, field) {
      const lines = peer.bodies.flatMap(linesOf).filter((line) => line.type === type.name && field in line.record)
      return lines.map(({ record }) => [String(record.device), BigInt(String(record[field]))])
    },
  }
})

test('golden lines', () => {
  const source = new BatchSource({ id: 'nic', labels: { node: 'n1' } })
  const text = encodeLines([source.ports({ eth0: 2n ** 64n - 1n }), source.batch(oddType, [ODD_RECORD])])
  assert.equal(
    text.replace(/"time":"\d+"/, '"time":"1"'),
    '{"type":"conformance_port","source":"nic","labels":{"node":"n1"},"record":{"time":"1","device":"eth0","rx_bytes_total":"18446744073709551615"}}\n' +
      '{"type":"conformance.odd-type:1","source":"nic","labels":{"node":"n1"},"record":{"flag":true,"time":"1800000000000000","part":"µ\\n\\"\\\\","small":-128,"wide":["0","18446744073709551615","1"],"signed":"-9223372036854775808","real":"NaN","note":"a\\u0000b \\ud800","wait":[0,4294967295,0,1]}}\n',
  )
})

test('posts with its headers, and says in plain words why nothing arrives', async (t) => {
  const peer = await HttpPeer.start(t)
  const batch = new BatchSource().ports({ a: 1 })
  const sink = createJsonl({ url: peer.url, headers: { authorization: 'Bearer secret' }, backoffInitialMs: 10 })
  t.after(() => sink.close())
  sink.accept(batch)
  await sink.flush()
  assert.equal(peer.headers.authorization, 'Bearer secret')
  assert.equal(peer.headers['content-type'], 'application/x-ndjson')
  await peer.behave('fails')
  sink.accept(batch)
  await until('it fails', () => sink.failing === 'HTTP 503 try again later')
  await peer.behave('gone')
  await until('it tells that nobody listens', () => /ECONNREFUSED/.test(sink.failing))
  await peer.behave('takes')
  await sink.flush()
  assert.equal(sink.failing, '')
})

test('a name and a password are sent, and shown nowhere, whatever the far end says', async (t) => {
  const peer = await HttpPeer.start(t)
  const sink = createJsonl({
    url: peer.url,
    username: 'me',
    password: 'päss',
    headers: { 'x-key': 'again' },
    backoffInitialMs: 10,
  })
  t.after(() => sink.close())
  const batch = new BatchSource().ports({ a: 1 })
  sink.accept(batch)
  await sink.flush()
  assert.equal(peer.headers.authorization, `Basic ${Buffer.from('me:päss').toString('base64')}`)
  await peer.behave('fails')
  sink.accept(batch)
  await until('it fails', () => sink.failing === 'HTTP 503 try (secret) later')
  await peer.behave('takes')
  await sink.flush()
})

test('what the far end says about a refusal is in the error, without a part of a secret where it is cut', async (t) => {
  const peer = await HttpPeer.start(t)
  const sink = createJsonl({ url: peer.url, headers: { 'x-key': 'hush-hush-hush' } })
  t.after(() => sink.close())
  const start = 'field "price" is unknown; '
  peer.refusal = `${start}${'x'.repeat(200 - start.length - 'HTTP 400 '.length - 6)}hush-hush-hush ${'y'.repeat(5000)}`
  await peer.behave('refuses')
  sink.accept(new BatchSource().ports({ a: 1 }))
  await assert.rejects(sink.flush(), (error: Error) => {
    assert.match(error.message, /^jsonl dropped 1 record \(1 rejected: HTTP 400 field "price" is unknown; x+\(secre\);/)
    return true
  })
  assert.equal(sink.causeOf?.('rejected').length, 200)
})

test('refuses an address that is none', () => {
  for (const url of ['', 'collector:4318', 'ftp://host/', 'http://me:pass@host/', 'http://me@host/', 'http://host:0/'])
    assert.throws(() => createJsonl({ url }), sondeError('JSL_OPTION', /^url of jsonl is .*allowed: an address/))
  const headers = { authorization: 'hush\r\nx: y' }
  const refused = sondeError(
    'JSL_OPTION',
    /^headers\.authorization of jsonl is "\(secret\)"; allowed: headers by name, except/,
  )
  assert.throws(() => createJsonl({ url: 'http://host/', headers }), refused)
  assert.throws(() => createJsonl({ url: 'http://host/', lingerMs: -1 }), sondeError('DLV_OPTION'))
})
