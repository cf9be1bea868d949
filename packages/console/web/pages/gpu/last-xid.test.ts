import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastXids } from './last-xid.ts'

const GAP = Number.NaN
const count = (xid: string, ...values: readonly number[]) => ({ labels: { xid }, values: Float64Array.from(values) })

test('the last XID is the one whose count rose last, whatever the gauge of a GPU that left said before', () => {
  assert.deepEqual(lastXids('45', [count('45', 0, 1, 1, 1), count('79', 0, 0, 0, 1)]), ['79'])
  assert.deepEqual(lastXids(undefined, [count('154', 0, 0, 1), count('79', 0, 0, 1)]), ['79', '154'])
  const begun = [count('45', 1, 1, 1), count('79', GAP, GAP, 1)]
  assert.deepEqual(lastXids('45', begun), ['79'], 'a series begins with its first error')
})

test('where no count rose in the window the gauge says it, and where it is silent every number that came', () => {
  assert.deepEqual(lastXids('63', [count('45', 2, 2), count('63', 1, 1)]), ['63'])
  assert.deepEqual(lastXids('0', [count('45', 0, GAP, 0)]), [])
  assert.deepEqual(lastXids(undefined, [count('45', 2, GAP, 2), count('63', 0, 0)]), ['45'])
  assert.deepEqual(lastXids('0', [count('79', GAP, 1, 1)]), ['79'], 'the table knows more than the gauge')
  assert.equal(lastXids(undefined, []), undefined)
})
