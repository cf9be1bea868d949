import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hang, OK, queuedBytes, Rig, range, reject, serialsOf } from '../../test/delivery-rig.ts'
import type { DeadLetter } from './dead-letters.ts'

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
    letters.map(({ cause, reason, batches, payload }) => ({ cause, reason, serials: serialsOf(batches), payload })),
    [{ cause: 'rejected', reason: 'poison', serials: [10, 11], payload: [10, 11] }],
  )
  assert.equal(rig.attempts.length, 8)
})

test('a destination that refuses everything is soon asked only once a request, and again in halves once it takes one', async () => {
  const letters: DeadLetter<readonly number[]>[] = []
  const rig = new Rig({ lingerMs: 10, onReject: (letter) => void letters.push(letter) })
  rig.answer = () => reject('HTTP 401')
  for (let round = 0; round < 20; round++) {
    for (let n = 0; n < 100; n++) rig.accept(1)
    await rig.advance(500)
  }
  assert.deepEqual([rig.dropped, rig.sink.queuedRecords], [{ rejected: 2000 }, 0])
  assert.ok(rig.attempts.length < 20 + 200, `${rig.attempts.length} attempts`)
  assert.deepEqual(
    letters.slice(-2).map(({ batches }) => batches.length),
    [100, 100],
  )
  rig.answer = (serials) => (serials.includes(2050) ? reject() : OK)
  rig.accept(1)
  await rig.advance(10)
  for (let n = 0; n < 100; n++) rig.accept(1)
  await rig.advance(500)
  assert.deepEqual(rig.dropped, { rejected: 2001 })
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
    letters.map(({ cause, reason, batches }) => [cause, reason, serialsOf(batches)]),
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
  const hanging = new Rig({ deadLettersMax: 2, onReject: () => new Promise(() => undefined) })
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

test('an empty batch is no request', async () => {
  const rig = new Rig()
  rig.sink.accept({ ...rig.batch(1), count: 0, bytes: new Uint8Array(0) })
  await rig.advance(10)
  assert.deepEqual([rig.attempts.length, rig.sink.stats.in], [0, 0])
})
