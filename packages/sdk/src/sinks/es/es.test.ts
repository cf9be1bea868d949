import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BulkServer } from '../../../test/bulk-server.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { HttpPeer } from '../../../test/http-peer.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createEs } from './es.ts'

const HASTY = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }

async function startPeer(t: Parameters<typeof HttpPeer.start>[0]) {
  const [peer, server] = [await HttpPeer.start(t), new BulkServer()]
  peer.answer = server.answer
  t.after(() => assert.deepEqual(server.malformed, []))
  return { peer, server, url: new URL(peer.url).origin }
}

testSink('es', 'push', async (t, limits) => {
  const { peer, server, url } = await startPeer(t)
  return {
    sink: createEs({ url, ...limits }),
    peer: (behaviour) => peer.behave(behaviour),
    read(type, field) {
      const of = server.documents.filter(
        (each) => each.type_name === type.name && (field in each || 'left_out' in each),
      )
      return of.map((each) => [String(each.device), BigInt(String(each[field] ?? leftOut(each, field)))])
    },
  }
})

function leftOut(document: Readonly<Record<string, unknown>>, field: string): string {
  return new RegExp(`${field}=(\\d+)`).exec(String(document.left_out))?.[1] ?? ''
}

test('the days of records choose their index; basic authentication, path and filter are sent', async (t) => {
  const { peer, server, url } = await startPeer(t)
  const options = { username: 'elastic', password: 'hush', logstashFormat: true, logstashPrefix: 'net', ...HASTY }
  const sink = createEs({ url: `${url}/prefix/`, ...options })
  t.after(() => sink.close())
  const record = { device: 'eth0', rx_bytes_total: 1 }
  const times = [1_800_000_000_000_000_000n, 1_800_000_000_000_000_000n + 86_400_000_000_000n]
  sink.accept(
    new BatchSource().batch(
      portType,
      times.map((time) => ({ time, ...record })),
    ),
  )
  await sink.flush()
  assert.deepEqual([...server.indexes.keys()], ['net-2027.01.15', 'net-2027.01.16'])
  assert.equal(peer.headers.authorization, `Basic ${Buffer.from('elastic:hush').toString('base64')}`)
  assert.equal(peer.path, '/prefix/_bulk?filter_path=errors%2Citems.*.status%2Citems.*.error')
})

test('of a request, a document that is refused for ever is dropped alone; a busy one is sent until it is taken', async (t) => {
  const { peer, server, url } = await startPeer(t)
  const sink = createEs({ url, ...HASTY, lingerMs: 50 })
  t.after(() => sink.close())
  let refusals = 0
  server.faultOf = ({ device }) => {
    if (device === 'bad') return { status: 400, error: { type: 'mapper_parsing_exception', reason: 'no such field' } }
    if (device === 'busy' && refusals++ < 3) return { status: 429, error: { type: 'es_rejected_execution_exception' } }
    return undefined
  }
  const source = new BatchSource()
  for (const devices of [{ a: 1, busy: 2 }, { b: 3, bad: 4, c: 5 }, { d: 6 }]) sink.accept(source.ports(devices))
  await assert.rejects(sink.flush(), /1 rejected: 400 mapper_parsing_exception: no such field/)
  assert.deepEqual(server.documents.map(({ device }) => device).sort(), ['a', 'b', 'busy', 'c', 'd'])
  assert.deepEqual([sink.stats.out, [...sink.stats.dropped]], [5, [['rejected', 1]]])
  assert.equal(peer.bodies.length, 4, 'the request was never halved')
})

test('an answer that was lost stores nothing twice', async (t) => {
  const { peer, server, url } = await startPeer(t)
  let isLost = true
  peer.answer = (body) => {
    const answer = server.answer(body)
    return isLost ? { status: 502, text: 'bad gateway' } : answer
  }
  const sink = createEs({ url, ...HASTY })
  t.after(() => sink.close())
  sink.accept(new BatchSource().ports({ a: 1, b: 2 }))
  await until('it was sent twice', () => peer.bodies.length >= 2)
  isLost = false
  await sink.flush()
  assert.equal(server.documents.length, 2)
})

test('an answer that is none to _bulk, and a wrong password, are tried again', async (t) => {
  const { peer, server, url } = await startPeer(t)
  peer.answer = () => ({ status: 200, text: '<html>welcome</html>' })
  const sink = createEs({ url, ...HASTY })
  t.after(() => sink.close())
  sink.accept(new BatchSource().ports({ a: 1 }))
  await until('it says so', () => sink.failing === 'the answer is none to _bulk')
  peer.answer = () => ({ status: 401, text: 'who are you' })
  await until('it says so', () => sink.failing === 'HTTP 401 who are you')
  peer.answer = server.answer
  await sink.flush()
  assert.equal(server.documents.length, 1)
})

test('refuses what is no index, and an address that is none', () => {
  const url = 'http://127.0.0.1:9200'
  assert.throws(
    () => createEs({ url, index: 'Upper' }),
    sondeError('ELS_OPTION', /^index of es is "Upper"; allowed: an index/),
  )
  assert.throws(
    () => createEs({ url: 'localhost:9200' }),
    sondeError('ELS_OPTION', /^url of es is .*; allowed: an address/),
  )
})
