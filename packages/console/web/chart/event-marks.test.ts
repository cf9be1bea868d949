import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsAt } from './event-marks.ts'

test('flags that would touch become one that says how many it stands for', () => {
  assert.deepEqual(flagsAt([100, 10, 20, 40], 24), [
    { x: 10, count: 2 },
    { x: 40, count: 1 },
    { x: 100, count: 1 },
  ])
  assert.deepEqual(flagsAt([], 24), [])
})
