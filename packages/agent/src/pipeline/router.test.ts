import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, type Sink, sinkStats, timestamp, wallNs } from '@sonde/sdk'
import { Router } from './router.ts'

const type = defineType('router_test', 'Records of this test', { time: timestamp(), level: gauge('f64') })

function batchOf(count: number): Batch {
  let batch: Batch | undefined
  const source = createSource({ id: 'test', emit: (emitted) => (batch = { ...emitted, bytes: emitted.bytes.slice() }) })
  for (let i = 0; i < count; i++) source.report(type, { time: wallNs(), level: i })
  source.flush()
  assert.ok(batch)
  return batch
}

function testedSink(name: string, accept: (batch: Batch) => void): Sink & { closed: number } {
  const stats = sinkStats()
  return {
    name,
    stats,
    closed: 0,
    accept,
    flush: async () => undefined,
    async close() {
      this.closed++
    },
  }
}

test('every sink gets every batch, in the order in which they were handed in', () => {
  const seen: number[][] = [[], []]
  const router = new Router(seen.map((counts, i) => testedSink(`s${i}`, (batch) => counts.push(batch.count))))
  for (const count of [1, 5, 2]) router.accept(batchOf(count))
  assert.deepEqual(seen, [
    [1, 5, 2],
    [1, 5, 2],
  ])
  assert.equal(router.records, 8)
})

test('a sink that throws loses that batch, counted, and the others get it', () => {
  const seen: number[] = []
  const broken = testedSink('broken', () => {
    throw new Error('disk on fire')
  })
  const router = new Router([broken, testedSink('whole', (batch) => seen.push(batch.count))])
  router.accept(batchOf(3))
  assert.deepEqual(seen, [3])
  assert.equal(broken.stats.errors, 1)
  assert.equal(broken.stats.dropped.get('failed'), 3)
})

test('a sink that cannot close does not keep the others open', async () => {
  const broken = testedSink('broken', () => undefined)
  broken.close = () => Promise.reject(new Error('stuck'))
  const whole = testedSink('whole', () => undefined)
  const results = await new Router([broken, whole]).close()
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.equal(whole.closed, 1)
})
