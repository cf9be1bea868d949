import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/files-rig.ts'
import { until } from '../../test/helper.ts'
import { Random, SEED } from '../../test/random.ts'
import { SimulatedTimers } from '../../test/simulated-timers.ts'
import { BatchSource, newPortType, portType } from '../../test/sink-records.ts'
import { settled } from '../../test/tested-sink.ts'
import { processTimers } from '../internal/timers.ts'
import type { Batch } from '../schema/batch.ts'
import { readRecords } from '../schema/reader.ts'
import type { Fields } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { droppedTotal } from '../sink/sink.ts'
import { type DeliveryOptions, type DeliverySink, delivery } from './delivery.ts'
import type { SendResult } from './sender.ts'
import { Shards } from './shards.ts'

/** A record as device and number. */
type Sent = readonly [device: string, serial: number]

const TIME = 1_800_000_000_000_000_000n
const DEVICES = Array.from({ length: 40 }, (_, n) => `eth${n}`)

function sentOf(batches: readonly Batch[]): Sent[] {
  return batches.flatMap(({ type, bytes, count, symbols }) =>
    [...readRecords(type, viewsOf(bytes), count, symbols)].map((record): Sent => {
      const { device, rx_bytes_total } = record as { device: string; rx_bytes_total: bigint }
      return [device, Number(rx_bytes_total)]
    }),
  )
}

/** Batches of records whose numbers rise, each of some random devices. */
class Ports {
  serial = 0
  readonly #random: Random
  #source = new BatchSource()

  constructor(random: Random) {
    this.#random = random
  }

  batch(count: number): Batch {
    // A program that starts again has another table of symbols.
    if (this.#random.chance(0.1)) this.#source = new BatchSource()
    const records = Array.from({ length: count }, () => ({
      time: TIME,
      device: this.#random.pick(DEVICES),
      rx_bytes_total: this.serial++,
    }))
    return this.#source.batch(portType, records)
  }
}

/** Asserts that the records of each series are in order, once repetitions are left out. */
function assertSeriesInOrder(taken: readonly Sent[]): void {
  const last = new Map<string, number>()
  const seen = new Set<number>()
  for (const [device, serial] of taken) {
    if (seen.has(serial)) continue
    seen.add(serial)
    assert.ok(serial > (last.get(device) ?? -1), `${device}: ${serial} after ${last.get(device)}`)
    last.set(device, serial)
  }
}

interface ShardedOptions extends Partial<DeliveryOptions<readonly Sent[]>> {
  /** Attempts after which the far end is away. Default: it stays. */
  readonly attempts?: number
}

/** A far end that is slow, refuses, and fails, at random; and the delivery before it. */
function shardedDelivery(random: Random, { attempts = Number.POSITIVE_INFINITY, ...options }: ShardedOptions) {
  const timers = new SimulatedTimers()
  const taken: Sent[] = []
  let [made, underWay, most] = [0, 0, 0]
  async function send(records: readonly Sent[], signal: AbortSignal): Promise<SendResult> {
    most = Math.max(most, ++underWay)
    const delayMs = random.integer(0, 50)
    if (options.timers === undefined) await new Promise<void>((resolve) => timers.after(delayMs, resolve))
    underWay--
    if (signal.aborted) return { outcome: 'ok' }
    if (++made > attempts || random.chance(0.2)) return { outcome: 'retry', reason: 'busy' }
    if (records.some(([, serial]) => serial % 100 === 7)) return { outcome: 'reject', reason: 'no sevens' }
    taken.push(...records)
    return { outcome: 'ok' }
  }
  const sink = delivery<readonly Sent[]>({
    ...{ name: 'test', encode: sentOf, send, timers, random: () => random.next() },
    ...{ lingerMs: 0, shards: 4, batchRecordsMax: 50, ...options },
  })
  return { sink, timers, taken, most: () => most }
}

function checkBalance({ stats, queuedRecords }: DeliverySink): void {
  assert.equal(stats.in, stats.out + droppedTotal(stats) + queuedRecords, 'in = out + dropped + queued')
}

test('a series is in the same shard for every source and version of its type, and each record once', () => {
  const shards = new Shards(7)
  const shardOf = (batch: Batch) =>
    Object.fromEntries(
      shards.split(batch).flatMap((piece, shard) => (piece ? sentOf([piece]) : []).map(([device]) => [device, shard])),
    )
  const records = DEVICES.map((device, n) => ({ time: TIME, device, rx_bytes_total: n }))
  const first = shardOf(new BatchSource().batch(portType, records))
  assert.deepEqual(Object.keys(first).sort(), DEVICES.toSorted())
  assert.ok(new Set(Object.values(first)).size > 2)
  assert.deepEqual(shardOf(new BatchSource().batch(portType, records.toReversed())), first)
  const constant = { labels: { device: 'eth0', lane: '0' } }
  const lanes = [{ time: TIME, device: 'eth1', lane: 0, drops_total: 0, rx_bytes_total: 1 }]
  const plain = [{ time: TIME, device: 'eth1', rx_bytes_total: 1 }]
  const [own, ofSource] = [newPortType, portType].map((type) =>
    shardOf(new BatchSource(constant).batch<Fields>(type, type === portType ? plain : lanes)),
  )
  assert.deepEqual(own, ofSource)
})

test('records of one series never overtake each other, over retries and halvings, and shards are sent at once', async () => {
  const random = new Random(SEED)
  const { sink, timers, taken, most } = shardedDelivery(random, {})
  const ports = new Ports(random)
  for (let n = 0; n < 40; n++) {
    for (const count of [1, 200, 30]) sink.accept(ports.batch(count))
    await timers.advance(random.integer(0, 300))
    checkBalance(sink)
  }
  while (sink.queuedRecords > 0) await timers.advance(1000)
  checkBalance(sink)
  assert.deepEqual([sink.queuedRecords, most()], [0, 4])
  assert.equal(taken.length, sink.stats.out)
  assert.equal(new Set(taken.map(([, serial]) => serial)).size, taken.length)
  assertSeriesInOrder(taken)
})

test('a delivery that closes amid its shards counts each record once', async () => {
  for (let round = 0; round < 20; round++) {
    const random = new Random(SEED + round)
    const { sink, timers, taken } = shardedDelivery(random, { closeTimeoutMs: 30 })
    const ports = new Ports(random)
    for (let n = 0; n < 5; n++) sink.accept(ports.batch(300))
    await timers.advance(random.integer(0, 100))
    const closed = sink.close()
    await timers.advance(100)
    await closed
    checkBalance(sink)
    assert.deepEqual([sink.queuedRecords, sink.stats.out], [0, taken.length])
  }
})

test('a queue on disk goes on after restarts: no record is missing, and each series is in order', async (t) => {
  const queueDir = temporaryFolder(t)
  const random = new Random(SEED)
  const ports = new Ports(random)
  const all: Sent[] = []
  let rejected = 0
  for (let life = 0; life < 8; life++) {
    const away = life === 7 ? {} : { attempts: 30, closeTimeoutMs: 0 }
    const fast = { timers: processTimers, backoffInitialMs: 1, backoffMaxMs: 2 }
    const { sink, taken } = shardedDelivery(random, { queueDir, ...fast, ...away })
    for (let n = 0; n < 4; n++) sink.accept(ports.batch(250))
    await settled(sink.flush())
    await until('it has sent what it can', () => sink.queuedRecords === 0 || (life < 7 && sink.stats.errors > 40))
    await sink.close()
    checkBalance(sink)
    all.push(...taken)
    rejected += sink.stats.dropped.get('rejected') ?? 0
  }
  const arrived = new Set(all.map(([, serial]) => serial))
  assert.ok(all.length > arrived.size, 'the far end gets some records again')
  assert.ok(arrived.size + rejected >= ports.serial)
  assertSeriesInOrder(all)
})
