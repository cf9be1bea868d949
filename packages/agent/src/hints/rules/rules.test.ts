import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingNode } from '../test-training-node.ts'
import { FAULTS } from './test-faults.ts'
import { LOOK_ALIKES } from './test-look-alikes.ts'

function healthyNode(): TrainingNode {
  const node = new TrainingNode()
  assert.deepEqual([...node.run(120)], [])
  return node
}

describe('within 3 s, on the device at fault and on no other, then standing:', () => {
  for (const { title, begin, each, opens, severity, standsAfterS } of FAULTS) {
    test(title, () => {
      const node = healthyNode()
      begin(node)
      const early = node.run(3, (second) => each?.(node, second))
      const seen = node.run(standsAfterS, (second) => each?.(node, second + 3))
      assert.deepEqual([...seen], [opens])
      assert.deepEqual([...early], [opens], 'within 3 s')
      assert.deepEqual(node.shown(), [`${opens} standing ${severity}`])
      const [hint] = node.open()
      assert.ok((hint?.title.length ?? 99) <= 60, `${hint?.title} is a headline`)
      assert.doesNotMatch(`${hint?.title} ${hint?.sentence}`, /NaN|undefined|Infinity|\d{5}/)
    })
  }
})

describe('what looks alike opens nothing, not even for a moment:', () => {
  for (const { title, begin, each } of LOOK_ALIKES) {
    test(title, () => {
      const node = healthyNode()
      begin(node)
      assert.deepEqual([...node.run(60, (second) => each?.(node, second))], [])
    })
  }
})
