import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Sink, sinkStats } from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { Acknowledger } from './acknowledger.ts'
import { Client } from './client.ts'
import { InFlight } from './in-flight.ts'

const handler = (released: (bytes: number) => void = () => undefined) => ({ released, failed: assert.fail })

/** A durable sink whose flush ends when a test says so. */
function heldSink({ last = 0n, lost = new Map<bigint, Map<bigint, number>>() } = {}) {
  const flushes: PromiseWithResolvers<void>[] = []
  const sink: Sink = {
    name: 'held',
    durable: true,
    stats: sinkStats(),
    accept: () => undefined,
    flush() {
      const flush = Promise.withResolvers<void>()
      flushes.push(flush)
      return flush.promise
    },
    close: () => Promise.resolve(),
    lastPage: async () => last,
    takeLost(client, upTo) {
      const taken = [...(lost.get(client) ?? [])].filter(([page]) => page <= upTo)
      for (const [page] of taken) lost.get(client)?.delete(page)
      return new Map(taken)
    },
  }
  return { sink, flushes }
}

test('a page is acknowledged once every durable sink has flushed, and what comes meanwhile with the next flush', async () => {
  const [a, b] = [heldSink(), heldSink()]
  let released = 0
  const acknowledger = new Acknowledger(
    [a.sink, b.sink],
    handler((bytes) => {
      released += bytes
    }),
  )
  assert.equal(acknowledger.kind, 'durable')
  const client = new Client(1n, 0n)
  client.took(1n, 100)
  acknowledger.note(client)
  await until('both flush', () => a.flushes.length === 1 && b.flushes.length === 1)
  client.took(2n, 100)
  acknowledger.note(client)
  a.flushes[0]?.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(client.acked, 0n, 'one is not enough')
  b.flushes[0]?.resolve()
  await until('the first is acknowledged', () => client.acked === 1n)
  assert.equal(released, 100)
  await until('the next flush', () => a.flushes.length === 2 && b.flushes.length === 2)
  for (const { flushes } of [a, b]) flushes[1]?.resolve()
  await acknowledger.finish()
  assert.deepEqual([client.acked, client.inFlightBytes, released], [2n, 0, 200])
})

test('where a sink tells clients apart, none waits for what it has yet to store of another', async () => {
  const flushes: { readonly client: bigint; readonly end: () => void }[] = []
  const flushClient = (client: bigint) => new Promise<void>((end) => flushes.push({ client, end }))
  const acknowledger = new Acknowledger([{ ...heldSink().sink, flushClient }], handler())
  const [slow, quick] = [new Client(1n, 0n), new Client(2n, 0n)]
  for (const page of [1n, 2n, 3n]) {
    for (const client of [slow, quick]) {
      client.took(page, 10)
      acknowledger.note(client)
    }
    await until(`page ${page} is flushed`, () => flushes.length === Number(page) + 1)
    flushes.findLast(({ client }) => client === 2n)?.end()
    await until('the one is acknowledged', () => quick.acked === page)
  }
  assert.deepEqual([slow.acked, flushes.filter(({ client }) => client === 1n).length], [0n, 1])
  flushes[0]?.end()
  await until('the rest of the other is flushed', () => flushes.length === 5)
  assert.equal(slow.acked, 1n)
  flushes[4]?.end()
  await acknowledger.finish()
  assert.equal(slow.acked, 3n)
})

const NOTHING = { dropped: {}, hidden: {} }

const lostOf = (client: bigint, pages: readonly (readonly [bigint, number])[]) => new Map([[client, new Map(pages)]])

test('a client is told once how many of its records a sink lost, and nobody of those of others', async () => {
  const first = [
    [1n, 7],
    [2n, 3],
  ] as const
  const { sink, flushes } = heldSink({ lost: lostOf(1n, first) })
  const second = heldSink({ lost: lostOf(1n, [[1n, 9]]) })
  const acknowledger = new Acknowledger([sink, second.sink], handler())
  const [lossy, whole] = [new Client(1n, 0n), new Client(2n, 0n)]
  for (const client of [lossy, whole]) {
    client.took(1n, 10)
    client.took(2n, 10)
    acknowledger.note(client)
  }
  await until('they flush', () => flushes.length === 1 && second.flushes.length === 1)
  flushes[0]?.reject(new Error('lost'))
  second.flushes[0]?.resolve()
  await acknowledger.finish()
  assert.deepEqual(lossy.takeUntaken().dropped, { not_stored: 12 }, 'of a page that both lost the more')
  assert.deepEqual(lossy.takeUntaken(), NOTHING)
  assert.deepEqual(whole.takeUntaken(), NOTHING)
  assert.deepEqual([lossy.acked, whole.acked], [2n, 2n])
})

test('what was lost of a page is told with the acknowledgement of that page, not of one before', async () => {
  const { sink, flushes } = heldSink({ lost: lostOf(1n, [[2n, 5]]) })
  const acknowledger = new Acknowledger([sink], handler())
  const client = new Client(1n, 0n)
  const told: unknown[] = []
  client.onProgress = () => told.push([client.acked, client.takeUntaken().dropped])
  client.took(1n, 10)
  acknowledger.note(client)
  await until('the first flush', () => flushes.length === 1)
  client.took(2n, 10)
  acknowledger.note(client)
  flushes[0]?.resolve()
  await until('the second flush', () => flushes.length === 2)
  flushes[1]?.resolve()
  await acknowledger.finish()
  assert.deepEqual(told, [
    [1n, {}],
    [2n, { not_stored: 5 }],
  ])
})

test('the last page that all durable sinks have is what a client need not send again', async () => {
  const sinks = [heldSink({ last: 5n }).sink, heldSink({ last: 3n }).sink]
  assert.equal(await new Acknowledger(sinks, handler()).stored(1n), 3n)
  assert.equal(await new Acknowledger([], handler()).stored(1n), 0n)
})

test('a sink that is not waited for delays nobody, and has no say in what is stored', async () => {
  const [quick, slow] = [heldSink({ last: 5n }), heldSink({ last: 1n })]
  const acknowledger = new Acknowledger([quick.sink, slow.sink], handler(), [quick.sink])
  assert.equal(await acknowledger.stored(1n), 5n)
  const client = new Client(1n, 0n)
  client.took(6n, 10)
  acknowledger.note(client)
  await until('the one that is waited for flushes', () => quick.flushes.length === 1)
  quick.flushes[0]?.resolve()
  await acknowledger.finish()
  assert.deepEqual([client.acked, slow.flushes.length], [6n, 0])
  assert.equal(new Acknowledger([slow.sink], handler(), []).kind, 'memory')
})

test('a client waits while the sinks have half of what they may queue, and others that have more than their share with it', async () => {
  const config = { enabled: true, clients: 1, client_bytes: 1000, total_bytes: 10_000, client_bytes_per_s: 1000 }
  const inFlight = new InFlight(config, 1600)
  const [full, other] = [new Client(1n, 0n), new Client(2n, 0n)]
  full.took(1n, 900)
  other.took(1n, 250)
  inFlight.take(1150)
  let isLeft = false
  const passed: string[] = []
  const waits = inFlight.room(other, 0, () => isLeft)?.then(() => passed.push('other'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(passed.join(), '')
  full.done(1n, NOTHING)
  inFlight.release(900)
  await waits
  assert.equal(passed.join(), 'other')
  inFlight.release(other.done(1n, NOTHING))
  full.took(2n, 700)
  inFlight.take(700)
  const own = inFlight.room(full, 400, () => isLeft)?.then(() => passed.push('full'))
  await inFlight.room(other, 0, () => isLeft)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(passed.join(), 'other', 'its own limit, with what is kept of its types')
  isLeft = true
  inFlight.wake()
  await own
})

test('what was refused while the sinks are flushed is told with its own page, not before', async () => {
  const { sink, flushes } = heldSink()
  const acknowledger = new Acknowledger([sink], handler())
  const client = new Client(1n, 0n)
  client.refused(1n, 'wrong_size', 3)
  assert.deepEqual(client.takeUntaken(), NOTHING, 'its page is not acknowledged yet')
  acknowledger.note(client)
  await until('a flush', () => flushes.length === 1)
  client.refused(2n, 'wrong_size', 5)
  acknowledger.note(client)
  flushes[0]?.resolve()
  await until('the first page', () => client.acked === 1n)
  assert.deepEqual(client.takeUntaken().dropped, { wrong_size: 3 })
  await until('the next flush', () => flushes.length === 2)
  flushes[1]?.resolve()
  await acknowledger.finish()
  assert.deepEqual([client.acked, client.takeUntaken().dropped], [2n, { wrong_size: 5 }])
})

test('a sink that throws is reported, and pages are acknowledged all the same', async () => {
  const broken: Sink = {
    ...heldSink().sink,
    flush() {
      throw new Error('flush')
    },
    takeLost() {
      throw new Error('takeLost')
    },
  }
  const failures: unknown[] = []
  const failed = (error: unknown) => failures.push((error as Error).message)
  const acknowledger = new Acknowledger([broken], { released: () => undefined, failed })
  const client = new Client(1n, 0n)
  for (const sequence of [1n, 2n]) {
    client.took(sequence, 100)
    acknowledger.note(client)
    await acknowledger.finish()
    assert.equal(client.acked, sequence)
  }
  assert.deepEqual(failures, ['takeLost', 'takeLost'])
})
