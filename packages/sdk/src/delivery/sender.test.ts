import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hang, OK, Rig, retry } from '../../test/delivery-rig.ts'

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
