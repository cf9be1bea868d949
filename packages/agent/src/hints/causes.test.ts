import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SCENARIOS } from '../sources/simulator/scenarios/scenarios.ts'
import { everyGpu, everyRail, noTraffic, spinning } from './rules/test-changes.ts'
import { HintedNode, struck, WATCHED_S } from './test-simulated-node.ts'
import { quietNode } from './test-training-node.ts'

/** Rules that opened, in the order in which they did. */
function rulesOf({ openings }: HintedNode): string[] {
  return [...new Set(openings.map(({ id }) => id.slice(0, id.indexOf('/'))))]
}

/** Scenarios that no rule of one signal sees, and the scenario that draws others. */
const UNTOLD = ['healthy', 'time-slicing', 'checkpoint-asynchronous', 'pcie-stall', 'random']

describe('the cause is reported, but not its effect:', () => {
  const cases: readonly {
    readonly name: string
    readonly device?: string
    readonly severity?: number
    readonly tells: readonly string[]
  }[] = [
    { name: 'thermal-throttle', device: 'sim-gpu-3', tells: ['gpu_hot', 'thermal_throttle'] },
    { name: 'thermal-throttle', device: 'sim-gpu-0', severity: 35, tells: ['gpu_hot', 'thermal_throttle'] },
    { name: 'pcie-downtrain', device: 'sim-nic-mlx5_3-1', severity: 0.07, tells: ['pcie_downtrain'] },
    { name: 'link-downtrain', device: 'sim-nic-mlx5_3-1', tells: ['link_flap', 'link_slow'] },
    { name: 'power-cap', severity: 0.4, tells: ['power_cap'] },
    { name: 'power-brake', tells: ['power_brake'] },
    { name: 'gpu-lost', device: 'sim-gpu-6', tells: ['gpu_lost'] },
    { name: 'pfc-storm', device: 'sim-nic-mlx5_3-1', tells: ['pfc_source'] },
    { name: 'pfc-priority', device: 'sim-nic-mlx5_3-1', tells: ['pfc_priority'] },
    { name: 'pfc-priority', device: 'sim-nic-mlx5_3-1', severity: 0.001, tells: ['pfc_priority'] },
    { name: 'straggler', device: 'sim-gpu-5', severity: 2.8, tells: ['straggler'] },
    { name: 'checkpoint', severity: 60, tells: ['checkpoint'] },
    { name: 'retransmission-storm', device: 'sim-nic-mlx5_3-1', severity: 0.001, tells: ['retransmission_storm'] },
    { name: 'incast', device: 'sim-nic-mlx5_3-1', severity: 0.3, tells: ['congestion'] },
    { name: 'hash-collision', device: 'sim-nic-mlx5_3-1', tells: ['congestion'] },
    { name: 'link-flap', device: 'sim-nic-mlx5_3-1', severity: 58, tells: ['link_flap'] },
    { name: 'link-ber', device: 'sim-nic-mlx5_3-1', tells: ['link_ber'] },
    { name: 'pcie-downtrain', device: 'sim-gpu-2', severity: 0.07, tells: ['pcie_downtrain'] },
    { name: 'pcie-aer', device: 'sim-gpu-2', tells: ['pcie_aer'] },
    { name: 'ecc-burst', device: 'sim-gpu-2', tells: ['ecc_corrected', 'ecc_uncorrected'] },
    { name: 'stuck-collective', tells: ['stuck_collective'] },
    { name: 'data-stall', severity: 9.7, tells: ['data_stall'] },
    { name: 'noisy-neighbour', device: 'sim-nic-mlx5_3-1', tells: ['noisy_neighbour'] },
    { name: 'mig', device: 'sim-gpu-2', tells: ['shared_device'] },
  ]
  test('every scenario that a rule tells is here', () => {
    const told = SCENARIOS.map(({ name }) => name).filter((name) => !UNTOLD.includes(name))
    assert.deepEqual([...new Set(cases.map(({ name }) => name))].sort(), told.sort())
  })
  for (const { tells, ...fault } of cases) {
    test(`${fault.name} ${fault.device ?? ''}${fault.severity === undefined ? '' : ` of ${fault.severity}`}`, () => {
      const node = struck('hgx-h100', [fault], 150)
      assert.deepEqual(rulesOf(node), tells)
      // A device that was slow for a while is as fast as before, so no other hint opens.
      node.stopAll()
      node.run(100)
      assert.deepEqual(rulesOf(node), tells)
    })
  }
})

test('a collective that hangs is told, once the job ran on after a memory error', () => {
  const node = quietNode()
  node.gpu(2).add({ ecc_dbe_vol_total: 1 })
  node.run(30)
  everyGpu(node, spinning)
  everyRail(node, noTraffic)
  node.run(40)
  const open = node.shown()
  assert.ok(open.includes('ecc_uncorrected/gpu-2 lingering critical'), 'the error is still shown')
  assert.ok(open.includes('stuck_collective/node standing critical'), open.join())
})

test('a collective that waits for a GPU after a memory error is an effect of the error', () => {
  const node = quietNode()
  node.gpu(2).add({ ecc_dbe_vol_total: 1 })
  everyGpu(node, spinning)
  node.gpu(2).set({ gpu_util: 0, sm_active: 0, power_usage: 125 })
  everyRail(node, noTraffic)
  node.run(40)
  assert.deepEqual(node.shown(), ['ecc_uncorrected/gpu-2 standing critical'])
})

test('a neighbour on one rail does not hide a checkpoint or a hanging collective', () => {
  const neighbour = { name: 'noisy-neighbour', device: 'sim-nic-mlx5_0-1' }
  const saving = struck('hgx-h100', [neighbour, { name: 'checkpoint', severity: 60 }], 40)
  assert.deepEqual(rulesOf(saving).sort(), ['checkpoint', 'noisy_neighbour'])
  const hanging = struck('hgx-h100', [neighbour, { name: 'stuck-collective' }], 60)
  assert.deepEqual(rulesOf(hanging).sort(), ['noisy_neighbour', 'stuck_collective'])
})

test('traffic of a neighbour through the only rail makes no training of a job that has ended', () => {
  const node = new HintedNode({ nodeClass: 'small', workload: 'inference' })
  node.run(WATCHED_S)
  node.start({ name: 'link-flap', severity: 58, durationS: 300 })
  node.start({ name: 'noisy-neighbour', severity: 7e9, durationS: 300 })
  node.run(200)
  assert.deepEqual(rulesOf(node).sort(), ['link_flap', 'noisy_neighbour'])
})

describe('a node with one GPU, or with two GPUs and one of them split by MIG:', () => {
  for (const nodeClass of ['dpu-host', 'small']) {
    for (const [name, opens] of [
      ['noisy-neighbour', 'noisy_neighbour/sim-nic-mlx5_0-1'],
      ['data-stall', 'data_stall/sim-node'],
      ['power-brake', 'power_brake'],
    ] as const) {
      test(`${name} is reported on ${nodeClass}`, () => {
        const device = name === 'noisy-neighbour' ? { device: 'sim-nic-mlx5_0-1' } : {}
        const node = struck(nodeClass, [{ name, ...device }], 15)
        assert.ok(
          node.openings.some(({ id }) => id.startsWith(opens)),
          node.shown().join(),
        )
      })
    }
  }

  test('work that ends within a sample is not a checkpoint, and a GPU that MIG splits is not a straggler', () => {
    const waits = struck('dpu-host', [{ name: 'data-stall', severity: 5.4 }], 150)
    assert.deepEqual(rulesOf(waits), ['shared_device', 'data_stall'])
    const split = struck('dpu-host', [{ name: 'mig', device: 'sim-gpu-0', severity: 5 }], 100)
    assert.deepEqual(rulesOf(split), ['shared_device'])
  })

  test('a GPU that MIG splits keeps no hung collective of the others back', () => {
    const node = struck('hgx-h100', [{ name: 'mig', device: 'sim-gpu-2' }, { name: 'stuck-collective' }], 60)
    assert.deepEqual(rulesOf(node).sort(), ['shared_device', 'stuck_collective'])
  })
})
