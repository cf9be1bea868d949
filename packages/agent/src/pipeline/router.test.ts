import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, type Sink, sinkStats, timestamp, wallNs } from '@sonde/sdk'
import { Route } from '@sonde/sdk/internal'
import { Router } from './router.ts'

/** A router that lets every sink have everything. */
const routerOf = (sinks: readonly Sink[], log: ConstructorParameters<typeof Router>[1]) =>
  new Router(
    sinks.map((sink) => new Route(sink)),
    log,
  )

const type = defineType('router_test', 'Records of this test', { time: timestamp(), level: gauge('f64') })

/** Says nothing. */
const silent = { error: () => undefined }

function batchOf(count: number): Batch {
  let batch: Batch | undefined
  const source = createSource({ id: 'test', emit: (emitted) => (batch = { ...emitted, bytes: emitted.bytes.slice() }) })
  for (let i = 0; i < count; i++) source.report(type, { time: wallNs(), level: i })
  source.flush()
  assert.ok(batch)
  return batch
}

function testedSink(name: string, accept: (batch: Batch) => void): Sink {
  const stats = sinkStats()
  return {
    name,
    stats,
    accept,
    flush: async () => undefined,
    close: async () => undefined,
  }
}

test('every sink gets every batch, in the order in which they were handed in', () => {
  const seen: number[][] = [[], []]
  const router = routerOf(
    seen.map((counts, i) => testedSink(`s${i}`, (batch) => counts.push(batch.count))),
    silent,
  )
  for (const count of [1, 5, 2]) router.accept(batchOf(count))
  assert.deepEqual(seen, [
    [1, 5, 2],
    [1, 5, 2],
  ])
  assert.equal(router.records, 8)
})

test('a sink that throws, or rejects, loses that batch, counted and told once, and the others get it', async () => {
  const seen: number[] = []
  const lines: string[] = []
  const log = { error: ({ sink, error }: { sink: string; error: Error }) => lines.push(`${sink}: ${error.message}`) }
  const broken = testedSink('broken', () => {
    throw new Error('disk on fire')
  })
  const late = testedSink('late', () => Promise.reject(new Error('gone')))
  const router = routerOf([broken, late, testedSink('whole', (batch) => seen.push(batch.count))], log)
  router.accept(batchOf(3))
  router.accept(batchOf(1))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(seen, [3, 1])
  for (const { stats } of [broken, late]) assert.deepEqual([stats.errors, stats.dropped.get('failed')], [2, 4])
  assert.deepEqual(lines, ['broken: disk on fire', 'late: gone'])
})

test('a sink that cannot close does not keep the others open', async () => {
  const broken = testedSink('broken', () => undefined)
  broken.close = () => Promise.reject(new Error('stuck'))
  const limitsMs: unknown[] = []
  const whole = testedSink('whole', () => undefined)
  whole.close = async (limitMs) => void limitsMs.push(limitMs)
  const results = await routerOf([broken, whole], silent).close(250)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.deepEqual(limitsMs, [250])
})
