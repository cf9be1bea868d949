import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, delivery, readRecords, text, value, viewsOf, wallNs } from '@sonde/sdk'
import { batchOf, FULL_BATCHES, hang, OK, Rig, range, retry, SMALL } from '../../test/delivery-rig.ts'
import { sondeError } from '../../test/helper.ts'
import { BatchSource, portType } from '../../test/sink-records.ts'

test('sends what it accepts, once and in order', async () => {
  const rig = new Rig()
  for (let n = 0; n < 20; n++) {
    rig.accept(3)
    await rig.advance(1)
  }
  assert.deepEqual(rig.taken, range(0, 60))
  assert.deepEqual([rig.sink.stats.in, rig.sink.stats.out, rig.sink.queuedRecords], [60, 60, 0])
})

test('keeps a copy: bytes that change after accept do not change what is sent, not even those of a Buffer', async () => {
  const rig = new Rig()
  const batch = rig.batch(5)
  const bytes = Buffer.from(batch.bytes)
  rig.sink.accept({ ...batch, bytes })
  bytes.fill(0xff)
  await rig.advance(1)
  assert.deepEqual(rig.taken, range(0, 5))
})

test('flush does not linger, and resolves when all that was accepted before it has arrived', async () => {
  const rig = new Rig({ lingerMs: 60_000 })
  rig.answer = () => new Promise((resolve) => rig.timers.after(50, () => resolve(OK)))
  rig.accept(3)
  let flushed = false
  const flush = rig.sink.flush().then(() => {
    flushed = true
  })
  await rig.advance(49)
  assert.equal(flushed, false)
  await rig.advance(1)
  assert.equal(flushed, true)
  assert.deepEqual(rig.taken, [0, 1, 2])
  await flush
})

test('flush rejects where records were dropped instead of acknowledged, and tells it once', async () => {
  const rig = new Rig({ retryLimitMs: 1000 })
  await rig.sink.flush()
  rig.answer = () => retry()
  rig.accept(3)
  const flushes = [rig.sink.flush(), rig.sink.flush()].map((flush) =>
    assert.rejects(flush, sondeError('DLV_LOST', /^test dropped 3 records \(3 retry_limit: busy\);/)),
  )
  await rig.advance(1000)
  await Promise.all(flushes)
  assert.deepEqual(rig.dropped, { retry_limit: 3 })
  await rig.sink.flush()
})

test('flush does not take what is not for this destination for a loss', async () => {
  const rig = new Rig({ encode: () => undefined })
  rig.accept(4)
  const flush = rig.sink.flush()
  await rig.advance(10)
  await flush
  assert.deepEqual(rig.dropped, { not_encoded: 4 })
})

test('a full queue drops what waits longest', async () => {
  const rig = new Rig({ ...SMALL, retryLimitMs: 86_400_000 })
  rig.answer = hang
  rig.accept(1)
  await rig.advance(0)
  for (let n = 0; n < 200; n++) rig.accept(100)
  assert.ok(rig.sink.queuedBytes <= 65_536)
  const dropped = 200 - (FULL_BATCHES - 1)
  assert.deepEqual(rig.dropped, { queue_full: dropped * 100 })
  rig.answer = () => OK
  await rig.advance(60_000)
  assert.deepEqual(rig.taken, [0, ...range(1 + dropped * 100, 20_001)])
})

test('a queue that texts have filled drops what waits longest too', async () => {
  const noteType = defineType('note', 'A text a record', { n: value('u32'), said: text() })
  const sent: number[] = []
  const stuck = Promise.withResolvers<void>()
  const sink = delivery<readonly Batch[]>({
    ...SMALL,
    name: 'test',
    batchRecordsMax: 5,
    encode: (batches) => batches,
    async send(batches) {
      await stuck.promise
      for (const { type, bytes, count, symbols } of batches)
        for (const { n } of readRecords(type as typeof noteType, viewsOf(bytes), count, symbols)) sent.push(n)
      return OK
    },
  })
  const source = createSource({ id: 'notes', emit: (batch) => sink.accept(batch) })
  for (let n = 0; n < 100; n++) {
    source.report(noteType, { n, said: String(n).padEnd(4000) })
    source.flush()
  }
  stuck.resolve()
  await sink.close()
  assert.equal(sent.length + (sink.stats.dropped.get('queue_full') ?? 0), 100)
  assert.deepEqual(sent.slice(-3), [97, 98, 99])
})

test('a full queue gives nothing up where that could not make room', async () => {
  const rig = new Rig({ ...SMALL, batchBytesMax: 40_000 })
  rig.answer = hang
  rig.accept(4900)
  await rig.advance(0)
  rig.accept(1000)
  rig.accept(4900)
  assert.deepEqual(rig.dropped, { queue_full: 4900 })
  assert.equal(rig.sink.queuedRecords, 5900)
})

test('with drop_newest a full queue keeps what it has', async () => {
  const rig = new Rig({ ...SMALL, queuePolicy: 'drop_newest' })
  rig.answer = hang
  for (let n = 0; n < 100; n++) rig.accept(100)
  assert.equal(rig.sink.offer(rig.batch(100)), true)
  assert.deepEqual(rig.dropped, { queue_full: (101 - FULL_BATCHES) * 100 })
  rig.answer = () => OK
  await rig.advance(60_000)
  assert.deepEqual(rig.taken, range(0, FULL_BATCHES * 100))
})

test('with block, offer refuses without a trace and whenRoom tells when to come again; accept drops and counts', async () => {
  const rig = new Rig({ ...SMALL, queuePolicy: 'block' })
  rig.answer = hang
  while (rig.sink.offer(rig.batch(100))) rig.checkBalance()
  const refused = rig.serial - 100
  assert.deepEqual([rig.sink.stats.in, rig.dropped], [FULL_BATCHES * 100, {}])
  let room = false
  const waiting = rig.sink.whenRoom().then(() => {
    room = true
  })
  await rig.advance(100)
  assert.equal(room, false)
  rig.accept(100)
  assert.deepEqual(rig.dropped, { queue_full: 100 })
  rig.answer = () => OK
  await rig.advance(60_000)
  await waiting
  assert.equal(rig.sink.offer(batchOf(range(refused, refused + 100))), true)
  await rig.advance(1)
  assert.deepEqual(rig.taken, range(0, refused + 100))
})

test('whenRoom does not keep a producer waiting for a queue that has emptied meanwhile', async () => {
  const rig = new Rig({ queuePolicy: 'block' })
  rig.accept(1)
  await rig.advance(1)
  await rig.sink.whenRoom()
})

test('a batch whose bytes are not those of its records is dropped and counted', () => {
  const rig = new Rig()
  const batch = rig.batch(3)
  rig.sink.accept({ ...batch, count: 4 })
  rig.sink.accept({ ...batch, bytes: batch.bytes.subarray(1) })
  assert.deepEqual([rig.dropped, rig.sink.stats.in, rig.sink.queuedRecords], [{ wrong_size: 7 }, 7, 0])
})

test('a batch larger than the whole queue is dropped whatever the policy, and its producer not kept waiting', () => {
  for (const queuePolicy of ['drop_oldest', 'drop_newest', 'block'] as const) {
    const rig = new Rig({ ...SMALL, queuePolicy })
    rig.accept(1)
    assert.equal(rig.sink.offer(rig.batch(9000)), true)
    rig.checkBalance()
    assert.deepEqual(rig.dropped, { too_large: 9000 })
    assert.equal(rig.sink.queuedRecords, 1)
  }
})

test('a destination that hangs does not delay another, nor accept', async () => {
  const dead = new Rig({ timeoutMs: 600_000 })
  const alive = new Rig()
  dead.answer = hang
  for (let n = 0; n < 100; n++) {
    const batch = alive.batch(10)
    dead.sink.accept(batch)
    alive.sink.accept(batch)
    await alive.advance(1)
  }
  assert.equal(alive.taken.length, 1000)
  assert.deepEqual([dead.sink.stats.in, dead.sink.stats.out, dead.sink.queuedRecords], [1000, 0, 1000])
})

test('close sends what is queued without lingering or pausing, and releases the transport once', async () => {
  let closes = 0
  const rig = new Rig({ lingerMs: 60_000, backoffInitialMs: 60_000, backoffMaxMs: 60_000, close: () => void closes++ })
  rig.answer = () => (rig.attempts.length === 1 ? retry() : OK)
  rig.accept(3)
  void rig.sink.flush()
  await rig.advance(1)
  rig.accept(2)
  const closed = Promise.all([rig.sink.close(), rig.sink.close()])
  await rig.advance(1)
  await closed
  await rig.sink.close()
  assert.deepEqual(rig.taken, range(0, 5))
  assert.equal(closes, 1)
})

test('close with a full queue and a dead peer ends within closeTimeoutMs and counts what is lost', async () => {
  for (const answer of [hang, () => retry(), () => Promise.reject(new Error('refused'))]) {
    const rig = new Rig({ ...SMALL, closeTimeoutMs: 700, close: hang as () => Promise<never> })
    rig.answer = answer
    for (let n = 0; n < 100; n++) rig.accept(100)
    await rig.advance(100)
    const flush = assert.rejects(rig.sink.flush(), sondeError('DLV_LOST'))
    const closed = rig.sink.close()
    await rig.advance(700)
    await Promise.all([closed, flush])
    assert.equal(rig.sink.queuedRecords, 0)
    assert.equal(rig.dropped.closed, FULL_BATCHES * 100)
    rig.checkBalance()
  }
})

test('a program that ends sooner than closeTimeoutMs says so, and what is not sent is counted', async () => {
  const rig = new Rig({ closeTimeoutMs: 600_000 })
  rig.answer = hang
  rig.accept(3)
  const closed = rig.sink.close(250)
  await rig.advance(250)
  await closed
  assert.deepEqual(rig.dropped, { closed: 3 })
})

test('after close records are dropped and counted, and nobody is kept waiting for room', async () => {
  const rig = new Rig({ queuePolicy: 'block' })
  const closed = rig.sink.close()
  await rig.advance(1)
  await closed
  rig.accept(2)
  assert.equal(rig.sink.offer(rig.batch(3)), true)
  await rig.sink.whenRoom()
  await assert.rejects(rig.sink.flush(), sondeError('DLV_LOST', /dropped 5 records/))
  assert.deepEqual(rig.dropped, { closed: 5 })
  assert.equal(rig.attempts.length, 0)
})

test('a transport that fails to close is counted, and close resolves', async () => {
  const rig = new Rig({ close: () => Promise.reject(new Error('cannot close')) })
  const closed = rig.sink.close()
  await rig.advance(1)
  await closed
  assert.deepEqual([rig.sink.stats.errors, rig.sink.failing], [1, 'cannot close'])
})

test('lag is that of the oldest record, also between requests, and 0 with an empty queue', async () => {
  const rig = new Rig({ lingerMs: 1000, encode: () => [] })
  const source = new BatchSource()
  const accept = (ageS: number) =>
    rig.sink.accept(
      source.batch(portType, [{ time: wallNs() - BigInt(ageS) * 10n ** 9n, device: 'a', rx_bytes_total: 1 }]),
    )
  const lags = [rig.sink.lagS]
  for (const ageS of [1000, 500]) {
    accept(ageS)
    accept(ageS / 2)
    lags.push(rig.sink.lagS)
    await rig.advance(1000)
    lags.push(rig.sink.lagS)
  }
  assert.deepEqual(
    lags.map((lag = -1) => Math.floor(lag / 100)),
    [0, 10, 0, 5, 0],
  )
})
