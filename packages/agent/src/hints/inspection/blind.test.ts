import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HintedNode } from '../test-simulated-node.ts'
import { TrainingNode } from '../test-training-node.ts'

test('only rules without any reported signal are blind', () => {
  const node = new HintedNode()
  node.run(10)
  // The simulator has no memory controllers, no packages, and no NICs of pods.
  assert.deepEqual(node.hints.answer().blind, ['host_memory', 'cpu_throttle', 'far_nic'])
})

test('a rule is blind once none of its signals comes any more', () => {
  const node = new TrainingNode()
  node.run(10)
  assert.ok(!node.hints.answer().blind.includes('gpu_hot'))
  const none = { gpu_temp: undefined, memory_temp: undefined }
  for (let gpu = 0; gpu < 8; gpu++) node.gpu(gpu).set(none)
  node.run(60)
  assert.ok(node.hints.answer().blind.includes('gpu_hot'))
})
