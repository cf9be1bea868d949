import assert from 'node:assert/strict'
import { HintedNode } from '../../../packages/agent/src/hints/test-simulated-node.ts'
import { CLASS_NAMES } from '../../../packages/agent/src/sources/simulator/names.ts'
import { HealthTable } from '../hints/health-table.ts'
import { type FaultLoop, inTurn } from '../loop.ts'

/** So long is a node looked at. Unit: seconds. */
const ROUND_S = 1200
const NODES = CLASS_NAMES.flatMap((nodeClass) =>
  (['training', 'inference'] as const).map((workload) => ({ nodeClass, workload })),
)
/** What is so and no fault: one GPU of this class is split by MIG from the start. */
const SO_FROM_THE_START: Readonly<Record<string, readonly string[]>> = {
  'dpu-host': ['shared_device/sim-gpu-1'],
}

/** Health of every class of node in every workload: no rule sees anything. */
export const health: FaultLoop = {
  name: 'health',
  what: 'a healthy simulated node, at a sample a second, for twenty minutes a round: each class in each workload in turn, so that 3000 rounds are 100 hours of each; no hint opens, nothing is dropped',
  testRounds: NODES.length,
  async open() {
    const table = new HealthTable()
    let spentS = 0
    let passedS = 0
    return {
      async round(random) {
        const { nodeClass, workload } = inTurn(random, NODES)
        const node = new HintedNode({ seed: random.integer(1, 1_000_000_000), nodeClass, workload })
        node.run(ROUND_S)
        const known = SO_FROM_THE_START[nodeClass] ?? []
        const opened = [...node.seen].filter(([id]) => !known.includes(id))
        table.add(
          nodeClass,
          workload,
          ROUND_S,
          opened.map(([id]) => id),
        )
        spentS += node.hints.stats.seconds
        passedS += ROUND_S
        assert.deepEqual(opened, [], `${nodeClass}, ${workload}`)
        assert.deepEqual([...node.hints.stats.dropped], [])
      },
      async close() {
        const perS = `${((spentS / passedS) * 1000).toFixed(2)} ms of hints a simulated second`
        return `${table.hoursLeast.toFixed(1)} hours of each class in each workload, no hint; ${perS}`
      },
      table: () => table.markdown(),
    }
  },
}
