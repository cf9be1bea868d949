import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HintedNode } from './test-simulated-node.ts'
import { quietNode, tellXid } from './test-training-node.ts'

test('sentence 3: an uncorrected error holds for a minute, is open for ten more, and ended when it held last', () => {
  const node = quietNode()
  node.gpu(4).add({ ecc_dbe_vol_total: 1 })
  const erredMs = node.nowMs
  node.run(7 * 60)
  const [hint] = node.open()
  assert.match(hint?.sentence ?? '', /1 in the last minute/)
  assert.equal(hint?.stage, 'lingering', 'its rule holds no more')
  const seenAfterMs = (hint?.seenMs ?? 0) - erredMs
  assert.ok(seenAfterMs > 55_000 && seenAfterMs < 65_000, `said of ${seenAfterMs} ms after the error`)
  node.run(5 * 60)
  assert.deepEqual(node.open(), [])
  const [over] = node.hints.answer().ended
  assert.deepEqual([over?.id, over?.outcome, over?.endedMs], ['ecc_uncorrected/gpu-4', 'ended', hint?.seenMs])
})

test('sentence 4: a power brake that lasted 30 s holds no more at 45 s, and shows on every GPU while it holds', () => {
  const node = new HintedNode()
  node.run(75)
  node.start({ name: 'power-brake', durationS: 30 })
  node.run(20)
  const [held] = node.open()
  assert.deepEqual([held?.id, held?.stage, held?.affected.length], ['power_brake/sim-node', 'standing', 8])
  node.run(25)
  assert.deepEqual(
    node.open().filter(({ stage }) => stage === 'standing'),
    [],
  )
})

test('sentence 5: a lost GPU is reported with its XID 79 while it is lost', () => {
  const node = quietNode()
  tellXid(node.gpu(6), 79)
  node.run(1)
  node.gpu(6).silence(true)
  for (const seconds of [10, 60, 120, 300]) {
    node.run(seconds)
    const hint = node.open().find(({ rule }) => rule === 'gpu_lost')
    assert.match(hint?.sentence ?? '', /XID 79$/, `${seconds} s later`)
  }
  node.gpu(6).silence(false)
  node.run(20)
  node.gpu(6).silence(true)
  node.run(20)
  const again = node.open().find(({ rule }) => rule === 'gpu_lost')
  assert.ok(again && !again.sentence.includes('XID'), 'that of an earlier loss is not told')
})

test('sentence 7: a hint that was never confirmed is dismissed, and one that stood has ended', () => {
  const node = quietNode()
  for (const seconds of [3, 12]) {
    node.gpu(0).set({ row_remap_pending: 1 })
    node.run(seconds)
    node.gpu(0).set({ row_remap_pending: 0 })
    node.run(30)
  }
  const outcomes = node.hints.answer().ended.map(({ id, outcome }) => `${id} ${outcome}`)
  assert.deepEqual(outcomes, ['ecc_pending/gpu-0 ended', 'ecc_pending/gpu-0 dismissed'])
})
