import assert from 'node:assert/strict'
import { HintedNode } from '../../../packages/agent/src/hints/test-simulated-node.ts'
import type { FaultLoop } from '../loop.ts'

const ROUND_S = 600
const WORKLOADS = ['training', 'inference'] as const

/**
 * A day of simulated nodes that are well: no rule sees anything. Rounds follow one another on the same nodes: the first
 * one's seed decides all.
 */
export const day: FaultLoop = {
  name: 'day',
  what: 'simulated nodes that are well, at a sample a second, training and serving; ten minutes more a round, 144 rounds are a day: no hint opens, nothing is dropped',
  // The short form is `hints/healthy.test.ts`.
  testRounds: 0,
  async open() {
    let nodes: HintedNode[] = []
    let passedS = 0
    return {
      async round(random) {
        const seed = random.integer(1, 1_000_000)
        if (nodes.length === 0) nodes = WORKLOADS.map((workload) => new HintedNode({ seed, workload }))
        passedS += ROUND_S
        for (const node of nodes) {
          node.run(ROUND_S)
          assert.deepEqual([...node.seen], [], `within ${passedS} s`)
          assert.deepEqual([...node.hints.stats.dropped], [])
        }
      },
      async close() {
        const spentS = nodes.reduce((sum, { hints }) => sum + hints.stats.seconds, 0)
        return `${((spentS / passedS / nodes.length) * 1000).toFixed(2)} ms of hints a simulated second`
      },
    }
  },
}
