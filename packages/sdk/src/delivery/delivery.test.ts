import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchOf, hang, OK, queuedBytes, Rig, range, reject, retry, serialsOf } from '../../test/delivery-rig.ts'
import { sondeError } from '../../test/helper.ts'
import { settle } from '../../test/simulated-timers.ts'
import type { DeliveryLimits } from './config.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { LossRecord } from './loss-ledger.ts'
import { MemoryQueue } from './memory-queue.ts'

/** The smallest queue there may be, and how many batches of 100 records fill it. */
const SMALL: DeliveryLimits = { queueLimitBytes: 65_536, batchBytesMax: 4096 }
const FULL_BATCHES = Math.floor(65_536 / queuedBytes(100))

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

test('waits for company up to lingerMs, and no longer once a request is full', async () => {
  const rig = new Rig({ lingerMs: 100, batchRecordsMax: 10 })
  rig.accept(2)
  await rig.advance(60)
  rig.accept(2)
  await rig.advance(39)
  assert.equal(rig.attempts.length, 0)
  await rig.advance(1)
  rig.accept(8)
  rig.accept(2)
  await rig.advance(0)
  assert.deepEqual(
    rig.attempts.map(({ serials, atMs }) => [serials.length, atMs]),
    [
      [4, 100],
      [10, 100],
    ],
  )
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

test('flush resolves on an empty queue, and when the rest was dropped', async () => {
  const rig = new Rig({ retryLimitMs: 1000 })
  await rig.sink.flush()
  rig.answer = () => retry()
  rig.accept(3)
  const flush = rig.sink.flush()
  await rig.advance(1000)
  await flush
  assert.deepEqual(rig.dropped, { retry_limit: 3 })
})

test('a request is at most batchRecordsMax records and batchBytesMax bytes', async () => {
  const rig = new Rig({ batchRecordsMax: 250, batchBytesMax: queuedBytes(100) * 4 })
  rig.answer = hang
  rig.accept(1)
  await rig.advance(0)
  rig.answer = () => OK
  for (let n = 0; n < 10; n++) rig.accept(100)
  for (let n = 0; n < 10; n++) rig.accept(1)
  await rig.advance(60_000)
  assert.deepEqual(
    rig.attempts.slice(1).map(({ serials }) => serials.length),
    [1, 200, 200, 200, 200, 208, 2],
  )
})

test('a batch larger than a request is split between records, into requests in order', async () => {
  const rig = new Rig({ batchRecordsMax: 30 })
  rig.accept(100)
  await rig.advance(10)
  assert.deepEqual(
    rig.attempts.map(({ serials }) => serials.length),
    [30, 30, 30, 10],
  )
  assert.deepEqual(rig.taken, range(0, 100))
})

test('tries again after growing pauses, each attempt with the same payload, and keeps the order', async () => {
  const rig = new Rig({ backoffInitialMs: 100, backoffMaxMs: 1000 })
  rig.answer = () => retry('busy')
  rig.accept(2)
  await rig.advance(0)
  rig.accept(1)
  await rig.advance(3500)
  assert.deepEqual(
    rig.attempts.map(({ atMs }) => atMs),
    [0, 100, 300, 700, 1500, 2500, 3500],
  )
  assert.ok(rig.attempts.every(({ serials }) => serials.join() === '0,1'))
  assert.equal(rig.sink.failing, 'busy')
  assert.equal(rig.sink.stats.errors, 7)
  rig.answer = () => OK
  await rig.advance(1000)
  assert.deepEqual(rig.taken, [0, 1, 2])
  assert.equal(rig.sink.failing, '')
})

test('leaves the far end alone for as long as it asks, but not beyond the retry limit', async () => {
  const rig = new Rig({ backoffInitialMs: 100, retryLimitMs: 10_000 })
  const asks = [4000, 1, Number.NaN, -5, 1e12]
  rig.answer = () => retry('busy', asks[rig.attempts.length - 1])
  rig.accept(1)
  await rig.advance(20_000)
  assert.deepEqual(
    rig.attempts.map(({ atMs }) => atMs),
    [0, 4000, 4200, 4600, 5400, 10_000],
  )
  assert.deepEqual(rig.dropped, { retry_limit: 1 })
})

test('gives a request up after attemptsMax attempts, and goes on with the next', async () => {
  const rig = new Rig({ attemptsMax: 3, backoffInitialMs: 10 })
  rig.answer = (serials) => (serials.includes(0) ? retry() : OK)
  rig.accept(2)
  await rig.advance(0)
  rig.accept(2)
  await rig.advance(1000)
  assert.deepEqual(rig.dropped, { retry_limit: 2 })
  assert.deepEqual(rig.taken, [2, 3])
  assert.equal(rig.attempts.length, 4)
})

test('an attempt that does not end is aborted after timeoutMs and made again; what comes of it later is ignored', async () => {
  const rig = new Rig({ timeoutMs: 500, backoffInitialMs: 100 })
  const signals: AbortSignal[] = []
  const late: (() => void)[] = []
  rig.answer = (_serials, signal) => {
    signals.push(signal)
    if (signals.length > 2) return OK
    return new Promise((resolve, fail) => {
      late.push(signals.length === 1 ? () => resolve(OK) : () => fail(new Error('late')))
    })
  }
  rig.accept(1)
  await rig.advance(499)
  assert.equal(signals[0]?.aborted, false)
  await rig.advance(1)
  assert.equal(signals[0]?.aborted, true)
  assert.equal(rig.sink.failing, 'no answer within 500 ms')
  late[0]?.()
  await rig.advance(100 + 500)
  late[1]?.()
  await rig.advance(200)
  assert.deepEqual(
    rig.attempts.map(({ atMs }) => atMs),
    [0, 600, 1300],
  )
  assert.deepEqual([rig.sink.stats.out, rig.sink.stats.errors], [1, 2])
})

test('a transport that throws, rejects or answers nothing is tried again', async () => {
  const rig = new Rig({ backoffInitialMs: 1 })
  const answers = [
    () => {
      throw new Error('thrown')
    },
    () => Promise.reject(new Error('refused')),
    () => Promise.reject('text'),
    () => ({}) as never,
    () => OK,
  ]
  const failures: string[] = []
  rig.answer = () => {
    failures.push(rig.sink.failing)
    return (answers[rig.attempts.length - 1] ?? hang)()
  }
  rig.accept(1)
  await rig.advance(100)
  assert.deepEqual(failures.slice(0, 4), ['', 'thrown', 'refused', 'text'])
  assert.deepEqual([rig.sink.stats.out, rig.sink.stats.errors], [1, 4])
})

test('a rejected batch is found by halving, goes to the dead letters, and its neighbours get through in order', async () => {
  const letters: DeadLetter<readonly number[]>[] = []
  const rig = new Rig({ lingerMs: 10, onReject: (letter) => void letters.push(letter) })
  rig.answer = (serials) => (serials.includes(11) ? reject('poison') : OK)
  for (let n = 0; n < 8; n++) rig.accept(2)
  await rig.advance(10)
  rig.accept(1)
  await rig.advance(100)
  assert.deepEqual(rig.taken, [...range(0, 10), ...range(12, 17)])
  assert.deepEqual(rig.dropped, { rejected: 2 })
  assert.deepEqual(
    letters.map(({ cause, reason, batch, payload }) => ({ cause, reason, serials: serialsOf([batch]), payload })),
    [{ cause: 'rejected', reason: 'poison', serials: [10, 11], payload: [10, 11] }],
  )
  assert.equal(rig.attempts.length, 8)
})

test('a batch that the encoder throws for is dropped alone', async () => {
  const letters: DeadLetter<readonly number[]>[] = []
  const rig = new Rig({
    lingerMs: 10,
    onReject: (letter) => void letters.push(letter),
    encode: (batches) => {
      const serials = serialsOf(batches)
      if (serials.includes(3)) throw new Error('cannot write 3')
      return serials
    },
  })
  for (let n = 0; n < 6; n++) rig.accept(1)
  await rig.advance(100)
  assert.deepEqual(rig.taken, [0, 1, 2, 4, 5])
  assert.deepEqual(rig.dropped, { encode_failed: 1 })
  assert.deepEqual(
    letters.map(({ cause, reason, batch }) => [cause, reason, serialsOf([batch])]),
    [['encode_failed', 'cannot write 3', [3]]],
  )
})

test('batches that hold nothing for this destination are dropped by that name', async () => {
  const rig = new Rig({ encode: () => undefined })
  rig.accept(4)
  await rig.advance(10)
  assert.deepEqual(rig.dropped, { not_encoded: 4 })
  assert.equal(rig.attempts.length, 0)
})

test('a keeper of dead letters that hangs or throws delays nothing, and is handed no more than its limit', async () => {
  const hanging = new Rig({ deadLetterLimit: 2, onReject: () => new Promise(() => undefined) })
  const throwing = new Rig({
    onReject: () => {
      throw new Error('disk full')
    },
  })
  for (const rig of [hanging, throwing]) {
    rig.answer = (serials) => (serials.some((serial) => serial < 5) ? reject() : OK)
    for (let n = 0; n < 6; n++) {
      rig.accept(1)
      await rig.advance(1)
    }
    assert.deepEqual([rig.taken, rig.dropped], [[5], { rejected: 5 }])
  }
  assert.equal(hanging.sink.lettersOverflowed, 3)
  assert.equal(throwing.sink.stats.errors, 10)
  const closed = hanging.sink.close()
  await hanging.advance(3000)
  await closed
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

test('with concurrency requests overtake each other, never more than allowed', async () => {
  const rig = new Rig({ concurrency: 3, batchRecordsMax: 1 })
  let underWay = 0
  let most = 0
  rig.answer = async ([serial = 0]) => {
    most = Math.max(most, ++underWay)
    await new Promise<void>((resolve) => rig.timers.after(serial === 0 ? 50 : 10, resolve))
    underWay--
    return OK
  }
  for (let n = 0; n < 9; n++) rig.accept(1)
  await rig.advance(100)
  assert.equal(most, 3)
  assert.notEqual(rig.taken[0], 0)
  assert.deepEqual(
    rig.taken.toSorted((a, b) => a - b),
    range(0, 9),
  )
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
    const flush = rig.sink.flush()
    const closed = rig.sink.close()
    await rig.advance(700)
    await Promise.all([closed, flush])
    assert.equal(rig.sink.queuedRecords, 0)
    assert.equal(rig.dropped.closed, FULL_BATCHES * 100)
    rig.checkBalance()
  }
})

test('after close records are dropped and counted, and nobody is kept waiting for room', async () => {
  const rig = new Rig({ queuePolicy: 'block' })
  const closed = rig.sink.close()
  await rig.advance(1)
  await closed
  rig.accept(2)
  assert.equal(rig.sink.offer(rig.batch(3)), true)
  await rig.sink.whenRoom()
  await rig.sink.flush()
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

test('tells losses as totals, at most once a second and reason, the rest when it closes', async () => {
  const losses: LossRecord[] = []
  const rig = new Rig({ ...SMALL, queuePolicy: 'drop_newest', onLoss: (loss) => void losses.push(loss) })
  rig.answer = hang
  const told = () => losses.splice(0).map(({ component, reason, records_total }) => [component, reason, records_total])
  for (let n = 0; n < FULL_BATCHES + 5; n++) rig.accept(100)
  rig.accept(9000)
  assert.deepEqual(told(), [])
  await rig.advance(1000)
  assert.deepEqual(told(), [
    ['test', 'queue_full', 500],
    ['test', 'too_large', 9000],
  ])
  await rig.advance(2000)
  assert.deepEqual(told(), [])
  rig.accept(100)
  const closed = rig.sink.close()
  await rig.advance(3000)
  await closed
  const last = told()
  assert.deepEqual(last.slice(0, 1), [['test', 'queue_full', 600]])
  assert.deepEqual(last.at(-1), ['test', 'closed', rig.dropped.closed])
})

test('a hook for losses that throws harms nothing', async () => {
  const rig = new Rig({
    encode: () => undefined,
    onLoss: () => {
      throw new Error('no')
    },
  })
  rig.accept(1)
  await rig.advance(1000)
  assert.deepEqual([rig.dropped, rig.sink.stats.errors], [{ not_encoded: 1 }, 1])
})

test('a queue that cannot keep a batch has it counted as dropped', async () => {
  class FailingQueue extends MemoryQueue {
    override append(): Promise<void> {
      return Promise.reject(new Error('disk full'))
    }
  }
  const rig = new Rig({ queue: new FailingQueue() })
  rig.sink.accept(rig.batch(3))
  await settle()
  rig.checkBalance()
  await rig.sink.flush()
  assert.deepEqual([rig.dropped, rig.sink.failing, rig.sink.stats.errors], [{ queue_failed: 3 }, 'disk full', 1])
})

test('a queue that outlives the process keeps what is left at close, and flush does not wait for the far end', async () => {
  class DurableQueue extends MemoryQueue {
    override readonly durable = true as never
    override append(batch: Parameters<MemoryQueue['append']>[0]): Promise<void> {
      void super.append(batch)
      return Promise.resolve()
    }
  }
  const rig = new Rig({ queue: new DurableQueue() })
  rig.answer = hang
  rig.accept(3)
  await rig.advance(1)
  await rig.sink.flush()
  const closed = rig.sink.close()
  await rig.advance(1)
  await closed
  assert.deepEqual([rig.sink.queuedRecords, rig.dropped], [3, {}])
})

test('an empty batch is no request', async () => {
  const rig = new Rig()
  rig.sink.accept({ ...rig.batch(1), count: 0, bytes: new Uint8Array(0) })
  await rig.advance(10)
  assert.deepEqual([rig.attempts.length, rig.sink.stats.in], [0, 0])
})

test('refuses limits out of range, naming key, value and what is allowed', () => {
  const wrongs: [DeliveryLimits, RegExp][] = [
    [{ queueLimitBytes: 1 }, /^queueLimitBytes is 1; allowed: a whole number from 65536 to 17179869184 \(bytes\)$/],
    [{ lingerMs: 0.5 }, /^lingerMs is 0.5; allowed: a whole number/],
    [{ concurrency: 0 }, /^concurrency is 0; allowed/],
    [{ timeoutMs: Number.NaN }, /^timeoutMs is NaN; allowed/],
    [{ attemptsMax: '3' as never }, /^attemptsMax is 3; allowed/],
    [{ backoffJitter: 1.1 }, /^backoffJitter is 1.1; allowed: a number from 0 to 1/],
    [{ queuePolicy: 'drop' as never }, /^queuePolicy is drop; allowed: drop_oldest, drop_newest, block$/],
    [{ backoffInitialMs: 500, backoffMaxMs: 400 }, /^backoffMaxMs is 400; allowed: at least backoffInitialMs, 500$/],
    [{ queueLimitBytes: 65_536 }, /^batchBytesMax is 1048576; allowed: at most queueLimitBytes, 65536$/],
  ]
  for (const [limits, message] of wrongs) assert.throws(() => new Rig(limits), sondeError('DLV_OPTION', message))
})
