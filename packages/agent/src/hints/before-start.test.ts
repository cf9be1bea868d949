import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyRail, noTraffic } from './rules/test-changes.ts'
import { TrainingNode, tellXid } from './test-training-node.ts'

test('errors in the first sample are reported as errors from before the start', () => {
  const node = new TrainingNode()
  tellXid(node.gpu(6), 79)
  tellXid(node.gpu(1), 13)
  node.gpu(2).add({ ecc_dbe_vol_total: 3 })
  node.run(3)
  assert.deepEqual(node.shown().sort(), [
    'error_before_start/gpu-2 standing warning',
    'error_before_start/gpu-6 standing warning',
  ])
  const sentences = node.open().map(({ sentence }) => sentence)
  assert.ok(sentences.some((one) => /^GPU 6 has XID 79, reported before Sonde started .*gives samples$/.test(one)))
  assert.ok(sentences.some((one) => /^GPU 2 counted uncorrected memory errors before Sonde started .*: 3, /.test(one)))
  node.run(60)
  assert.equal(node.open().length, 2, 'for as long as the driver tells it')
  node.gpu(6).set({ xid_errors: 0 })
  node.gpu(2).reset()
  node.run(15)
  assert.deepEqual(node.shown(), [], 'the driver was loaded anew')
})

test('a GPU that is lost from the start is critical, and a GPU that is lost later is reported as usual', () => {
  const node = new TrainingNode()
  tellXid(node.gpu(6), 79)
  node.gpu(6).set({ power_usage: undefined })
  node.run(3)
  assert.deepEqual(node.shown(), ['error_before_start/gpu-6 standing critical'])
  tellXid(node.gpu(5), 79)
  node.run(1)
  node.gpu(5).silence(true)
  node.run(8)
  assert.ok(node.shown().includes('gpu_lost/gpu-5 standing critical'))
})

test('a training port without a link since the start is told where the others carry traffic', () => {
  const shownOf = (begin: (node: TrainingNode) => void) => {
    const node = new TrainingNode()
    begin(node)
    node.run(20)
    return node.shown()
  }
  const down = { carrier: 0, state: 1 }
  assert.deepEqual(
    shownOf((node) => node.nic(5).set(down)),
    ['link_down/nic-mlx5_5-1 standing warning'],
  )
  assert.deepEqual(
    shownOf((node) => node.nic(8).set(down)),
    [],
    'a port that serves no GPU may be unused',
  )
  assert.deepEqual(
    shownOf((node) => {
      node.nic(5).set(down)
      everyRail(node, noTraffic)
    }),
    [],
    'an idle node wants no port',
  )
})
