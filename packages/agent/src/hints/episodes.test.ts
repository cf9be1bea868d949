import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScenarioRequest } from '@sonde/sdk/api'
import { type HintedNode, struck } from './test-simulated-node.ts'

/** Hints that opened more than once, and how often. */
function openedAgain({ openings }: HintedNode): string[] {
  const byId = Map.groupBy(openings, ({ id }) => id)
  return [...byId].filter(([, times]) => times.length > 1).map(([id, times]) => `${id} ${times.length} times`)
}

describe('one episode is one hint:', () => {
  const cases: readonly {
    readonly title: string
    readonly nodeClass?: string
    readonly faults: readonly ScenarioRequest[]
    readonly opens: string
    readonly forS?: number
  }[] = [
    {
      title: 'heat that comes and goes by a degree',
      faults: [{ name: 'thermal-throttle', device: 'sim-gpu-3' }],
      opens: 'thermal_throttle/sim-gpu-3',
      forS: 300,
    },
    {
      title: 'heat of two GPUs, one of which cools down below what slows it',
      faults: [
        { name: 'thermal-throttle', device: 'sim-gpu-0', severity: 20.2 },
        { name: 'thermal-throttle', device: 'sim-gpu-4', severity: 24.6 },
      ],
      opens: 'thermal_throttle/sim-gpu-0',
    },
    { title: 'a short wait for data', faults: [{ name: 'data-stall', severity: 0.9 }], opens: 'data_stall/sim-node' },
    { title: 'a long wait for data', faults: [{ name: 'data-stall', severity: 9.7 }], opens: 'data_stall/sim-node' },
    {
      title: 'losses in bursts that a wait for data keeps apart',
      faults: [
        { name: 'data-stall', severity: 6.3 },
        { name: 'retransmission-storm', device: 'sim-nic-mlx5_5-1', severity: 0.0002 },
      ],
      opens: 'retransmission_storm/sim-nic-mlx5_5-1',
    },
    {
      title: 'marks in bursts that a wait for data keeps apart',
      faults: [
        { name: 'data-stall', severity: 8 },
        { name: 'hash-collision', device: 'sim-nic-mlx5_3-1', severity: 0.1 },
      ],
      opens: 'congestion/sim-nic-mlx5_3-1',
    },
    {
      title: 'a neighbour that pauses',
      nodeClass: 'dpu-host',
      faults: [{ name: 'noisy-neighbour', device: 'sim-nic-mlx5_0-1', severity: 16.6e9 }],
      opens: 'noisy_neighbour/sim-nic-mlx5_0-1',
      forS: 300,
    },
    {
      title: 'a wait for data that a rail full of losses slows down',
      faults: [
        { name: 'retransmission-storm', device: 'sim-nic-mlx5_3-1', severity: 0.0047 },
        { name: 'data-stall', severity: 8, delayS: 23 },
      ],
      opens: 'data_stall/sim-node',
    },
    {
      title: 'a straggler whose steps a wait for data keeps apart',
      faults: [
        { name: 'data-stall', severity: 7.4 },
        { name: 'straggler', device: 'sim-gpu-1', severity: 2.2 },
      ],
      opens: 'straggler/sim-gpu-1',
    },
    {
      title: 'a power cap of two GPUs, one of which is lost',
      nodeClass: 'dpu-host',
      faults: [
        { name: 'power-cap', severity: 0.6 },
        { name: 'gpu-lost', device: 'sim-gpu-0', delayS: 20 },
      ],
      opens: 'power_cap/sim-node',
    },
  ]
  for (const { title, nodeClass = 'hgx-h100', faults, opens, forS = 150 } of cases) {
    test(title, () => {
      const node = struck(nodeClass, faults, forS)
      assert.ok(
        node.openings.some(({ id }) => id === opens),
        `${opens} opened`,
      )
      assert.deepEqual(openedAgain(node), [])
      if (nodeClass === 'dpu-host') assert.ok(!node.openings.some(({ id }) => id === 'power_cap/sim-gpu-1'))
    })
  }
})
