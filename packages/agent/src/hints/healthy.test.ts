import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HintedNode } from './test-simulated-node.ts'

// A whole day is a fault loop: `npm run faults -- day --rounds 144`.
describe('half an hour of a healthy node opens nothing:', () => {
  for (const nodeClass of ['hgx-h100', 'hgx-b200', 'small']) {
    for (const workload of ['training', 'inference'] as const) {
      test(`${nodeClass}, ${workload}`, () => {
        const node = new HintedNode({ nodeClass, workload, seed: 11 })
        node.run(nodeClass === 'hgx-h100' ? 1800 : 600)
        assert.deepEqual([...node.seen.keys()], [])
        assert.deepEqual([...node.hints.stats.dropped], [])
      })
    }
  }
})
