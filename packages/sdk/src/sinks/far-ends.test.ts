// Far ends that break their protocol, before each sink that sends over a network.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FAR_ENDS, SECRET } from '../../test/far-ends.ts'
import {
  cutAnswer,
  cutRequest,
  drip,
  FaultyWay,
  late,
  pass,
  pour,
  refuse,
  say,
  silent,
  unread,
  type WayFault,
} from '../../test/faulty-way.ts'
import { until } from '../../test/helper.ts'
import { HASTY } from '../../test/push-sink-cases.ts'
import { BatchSource } from '../../test/sink-records.ts'
import type { DeliveryLimits } from '../delivery/config.ts'

const PATIENT: DeliveryLimits = { lingerMs: 0 }
/** Limits under which a fault is noticed soon. */
const SOON: DeliveryLimits = { ...HASTY, timeoutMs: 150 }
/** No answer is kept in memory beyond its limit. */
const GROWTH_LIMIT_BYTES = 200 << 20

const FILLER = Buffer.alloc(65_536, `${SECRET} `)
/** 16 KiB of pieces of one byte each. */
const CRUMBS = Buffer.from('1\r\nx\r\n'.repeat(2730))

const FAULTS: Readonly<Record<string, WayFault>> = {
  'accepts and never answers': silent,
  'accepts and never reads': unread,
  'closes before an answer': cutAnswer(0),
  'closes after three bytes of its answer': cutAnswer(3),
  'closes after ten bytes of the request': cutRequest(10),
  'answers after the time limit': late(400),
  'answers a byte at a time': drip(Buffer.from('HTTP/1.1 200 OK\r\nx-slow: 1\r\n'.repeat(10))),
  'answers with noise without end': pour(FILLER),
  'answers with line feeds without end': pour(Buffer.alloc(65_536, '\n')),
  'sends headers without end': pour(Buffer.from(`x-${SECRET}: ${SECRET}\r\n`.repeat(500)), 'HTTP/1.1 200 OK\r\n'),
  'says 100 without end': pour(Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(500))),
  'fails with a body without end': pour(FILLER, 'HTTP/1.1 503 no\r\ncontent-length: 99999999999\r\n\r\n'),
  'fails with crumbs without end': pour(CRUMBS, 'HTTP/1.1 503 no\r\ntransfer-encoding: chunked\r\n\r\n'),
  'fails with a body that never comes': say('HTTP/1.1 503 no\r\ncontent-length: 100\r\n\r\nbusy'),
  'changes the protocol': say('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n'),
  'forges the size of a piece': say('HTTP/1.1 503 no\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF0\r\nx'),
  'states two lengths': say('HTTP/1.1 503 no\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
}

describe('a far end that breaks its protocol', { concurrency: true }, () => {
  for (const [name, start] of Object.entries(FAR_ENDS)) {
    test(`${name}: takes no memory, no secret and no time of a neighbour, and gets everything later`, async (t) => {
      const [farEnd, other] = [await start(t), await start(t)]
      const way = await FaultyWay.start(t, farEnd.port)
      const [sink, neighbour] = [farEnd.open({ ...SOON, port: way.port }), other.open(PATIENT)]
      t.after(() => Promise.all([sink.close(), neighbour.close()]))
      const source = new BatchSource()
      const given: string[] = []
      for (const [index, [title, fault]] of Object.entries(FAULTS).entries()) {
        const rssBytes = process.memoryUsage.rss()
        way.fault = fault
        way.break()
        const errors = sink.stats.errors
        given.push(`d${index}`)
        sink.accept(source.ports({ [`d${index}`]: index }))
        neighbour.accept(source.ports({ [`d${index}`]: index }))
        await neighbour.flush()
        await until(`it fails: ${title}`, () => sink.stats.errors >= errors + 2)
        assert.notEqual(sink.failing, '', title)
        assert.doesNotMatch(sink.failing, new RegExp(SECRET), title)
        assert.ok(process.memoryUsage.rss() - rssBytes < GROWTH_LIMIT_BYTES, title)
        assert.equal(sink.stats.in, sink.stats.out + sink.queuedRecords, title)
      }
      way.fault = pass
      way.break()
      await sink.flush()
      await neighbour.flush()
      // A request whose answer was cut may have arrived before: it comes again.
      assert.deepEqual([...new Set(farEnd.devices())], given)
      assert.deepEqual([sink.stats.out, sink.stats.dropped.size, sink.failing], [given.length, 0, ''])
      assert.deepEqual([other.devices(), neighbour.stats.errors], [given, 0])
    })
  }
})

/** How a far end can refuse one record for ever, and the reason of its drop. */
const REFUSALS = [
  { status: 400, reason: 'rejected' },
  { status: 429, reason: 'retry_limit' },
  { status: 500, reason: 'retry_limit' },
  { status: 503, reason: 'retry_limit' },
] as const
const REDIRECTS = [301, 302, 303, 307, 308]

describe('a far end over HTTP', { concurrency: true }, () => {
  for (const [name, start] of Object.entries(FAR_ENDS)) {
    if (name === 'fluent_bit') continue
    for (const { status, reason: usual } of REFUSALS) {
      // OTLP allows no further attempt after 500.
      const reason = name === 'otlp' && status === 500 ? 'rejected' : usual
      test(`${name}: a record that always gets ${status} is dropped as ${reason}, and the others arrive`, async (t) => {
        const farEnd = await start(t)
        const way = await FaultyWay.start(t, farEnd.port)
        way.fault = refuse('poison', status)
        // Requests that are tried again are not halved.
        const isHalved = status === 400
        const limits = { ...HASTY, retryLimitMs: 500, ...(isHalved ? {} : { batchRecordsMax: 1 }) }
        const sink = farEnd.open({ ...limits, timeoutMs: 60_000, port: way.port })
        t.after(() => sink.close())
        const source = new BatchSource()
        for (const device of ['first', 'poison', 'last']) sink.accept(source.ports({ [device]: 1 }))
        await assert.rejects(sink.flush())
        const { stats } = sink
        assert.deepEqual([...stats.dropped], [[reason, 1]])
        assert.deepEqual([stats.in, stats.out, sink.queuedRecords], [3, 2, 0])
        assert.deepEqual(farEnd.devices(), ['first', 'last'])
      })
    }

    test(`${name}: a redirect is not followed, and what follows arrives`, async (t) => {
      const [farEnd, other] = [await start(t), await start(t)]
      const [way, target] = [await FaultyWay.start(t, farEnd.port), await FaultyWay.start(t, other.port)]
      const sink = farEnd.open({ ...HASTY, timeoutMs: 60_000, port: way.port })
      t.after(() => sink.close())
      const source = new BatchSource()
      for (const to of [`http://127.0.0.1:${target.port}/`, 'file:///etc/passwd']) {
        for (const status of REDIRECTS) {
          way.fault = say(`HTTP/1.1 ${status} no\r\nlocation: ${to}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
          sink.accept(source.ports({ lost: status }))
          await assert.rejects(sink.flush(), `${status} to ${to}`)
          way.break()
        }
      }
      assert.deepEqual([[...sink.stats.dropped], target.connections], [[['rejected', 2 * REDIRECTS.length]], 0])
      way.fault = pass
      sink.accept(source.ports({ last: 1 }))
      await sink.flush()
      assert.deepEqual(farEnd.devices(), ['last'])
    })
  }
})
