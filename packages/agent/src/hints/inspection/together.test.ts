import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nvmlProfileType } from '../../sources/nvml/type.ts'
import { everyGpu } from '../rules/test-changes.ts'
import { quietNode } from '../test-training-node.ts'
import { gaugeSignal } from '../watch/signal.ts'
import { SignalWindow } from '../watch/window.ts'

/** Between two samples, and where the next one is late. Unit: milliseconds. */
const LATE_MS = [580, 1080]

test('GPUs in the same phase of a step are compared at the same moments, whichever of them misses samples', () => {
  // Computing and waiting in turns, all alike: a GPU without the samples of its waits is no busier than the others.
  const cases = [
    { missing: [7], whileBusy: false },
    { missing: [0, 1, 2, 3, 4, 5, 6], whileBusy: true },
  ]
  for (const { missing, whileBusy } of cases) {
    const node = quietNode()
    const alternate = (second: number) => {
      const isBusy = second % 2 === 0
      everyGpu(node, { pipe_tensor_active: isBusy ? 0.7 : 0.3, sm_active: isBusy ? 0.95 : 0.6 })
      for (const gpu of missing) node.gpu(gpu).silence(second % 12 > 5 && isBusy === whileBusy)
    }
    assert.deepEqual([...node.run(36, alternate, LATE_MS)], [], `without samples of GPU ${missing}`)
  }
})

test('equal losses of all ports are not losses of one port, even if a port misses samples', () => {
  for (const missing of [[3], [0, 1, 2, 4, 5, 6, 7]]) {
    const node = quietNode()
    const lose = (second: number) => {
      for (const nic of node.rails) if (second % 10 === 0) nic.add({ packet_seq_err_total: 4000 })
      for (const index of missing) node.nic(index).silence(second % 10 < 2)
    }
    assert.deepEqual([...node.run(36, lose, LATE_MS)], [], `without samples of NIC ${missing}`)
  }
})

test('a window is read at the moments of another one, or not at all', () => {
  const signal = gaugeSignal(nvmlProfileType, 'sm_active')
  const filled = (...seconds: readonly (readonly [second: number, value: number])[]) => {
    const window = new SignalWindow(signal)
    for (const [second, value] of seconds) window.push(second * 1000, value, false)
    return window
  }
  const own = filled([10, 1], [11, 3], [13, 5])
  const whole = filled([10.01, 10], [11.01, 20], [12.01, 30], [13.01, 40], [14.01, 50])
  assert.equal(whole.last(own), 40)
  assert.equal(whole.mean(3500, own), (10 + 20 + 40) / 3)
  assert.equal(whole.max(3500, own), 40)
  const late = filled([10, 1], [11, 2], [12, 3])
  assert.ok(Number.isNaN(late.last(own)), 'its sample of that moment is missing')
  assert.ok(Number.isNaN(filled([10, 1], [12, 3], [13, 4]).mean(3500, own)))
})
