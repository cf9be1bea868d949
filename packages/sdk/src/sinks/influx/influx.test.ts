import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError, until } from '../../../test/helper.ts'
import { HttpPeer } from '../../../test/http-peer.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { writeAddress } from './address.ts'
import { createInflux } from './influx.ts'

testSink('influx', 'push', async (t, limits) => {
  const peer = await HttpPeer.start(t)
  return {
    sink: createInflux({ url: peer.url, bucket: 'b', ...limits }),
    peer: (behaviour) => peer.behave(behaviour),
    read(type, field) {
      const points = peer.bodies.join('').split(/(?<= \d{19})\n/)
      return points.flatMap((point) => {
        const [, name = '', tags = '', fields = ''] = /^([^,]*)((?:\\.|[^\\ ])*) (.*) \d{19}$/s.exec(point) ?? []
        const value = new RegExp(`(?:^|,)${field}=(\\d+)u`).exec(fields)?.[1]
        const device = /,device=((?:\\.|[^\\,])*)/s.exec(tags)?.[1] ?? ''
        return name === type.name.replaceAll(' ', '\\ ') && value !== undefined
          ? [[unescaped(device), BigInt(value)] as const]
          : []
      })
    },
  }
})

function unescaped(text: string): string {
  return text.replaceAll('\\n', '\n').replace(/\\([,= ])/g, '$1')
}

test('addresses of a database and of a bucket', () => {
  const address = (url: string, options: object) => writeAddress(new URL(url), { url, ...options }).href
  assert.equal(address('http://h:8086', { database: 'a&b' }), 'http://h:8086/write?db=a%26b&precision=ns')
  assert.equal(
    address('https://h/influx/?rp=week', { bucket: 'b', org: 'o' }),
    'https://h/influx/api/v2/write?rp=week&bucket=b&org=o&precision=ns',
  )
})

test('a token is sent; a wrong one, and a missing database, are tried again until somebody fixes them', async (t) => {
  const peer = await HttpPeer.start(t)
  const options = { database: 'metrics', lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
  const sink = createInflux({ url: new URL(peer.url).origin, token: 'hush-hush', ...options })
  t.after(() => sink.close())
  peer.answer = () => ({ status: 404, text: '{"error":"database not found: \\"metrics\\" hush-hush"}' })
  sink.accept(new BatchSource().ports({ a: 1 }))
  const words = 'HTTP 404 {"error":"database not found: \\"metrics\\" (secret)"}'
  await until('it says so', () => sink.failing === words)
  peer.answer = () => ({ status: 204, text: '' })
  await sink.flush()
  assert.deepEqual([sink.stats.out, peer.headers.authorization], [1, 'Bearer hush-hush'])
  assert.equal(peer.path, '/write?db=metrics&precision=ns')
})

test('refuses a target that is none, or two', () => {
  const url = 'http://127.0.0.1:8086'
  const refused = (part: RegExp) => sondeError('FLX_OPTION', part)
  assert.throws(
    () => createInflux({ url }),
    refused(/^database of influx is missing; allowed: database for InfluxDB 1/),
  )
  assert.throws(() => createInflux({ url, database: 'a', bucket: 'b' }), refused(/^bucket of influx is given beside/))
  assert.throws(() => createInflux({ url, database: 'a', org: 'b' }), refused(/^org of influx is given without bucket/))
  assert.throws(() => createInflux({ url: 'h', database: 'a' }), refused(/^url of influx is .*; allowed: an address/))
})
