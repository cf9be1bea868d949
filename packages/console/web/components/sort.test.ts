import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSort, nextSort, parseSort, sortRows } from './sort.ts'

test('names with numbers are in the order of the numbers', () => {
  const sorted = sortRows(['eth10', 'eth2', 'lo', 'eth1'], 'ascending', (name) => name)
  assert.deepEqual(sorted, ['eth1', 'eth2', 'eth10', 'lo'])
})

test('missing values are last in both directions', () => {
  const rows = [Number.NaN, 2, 1]
  assert.deepEqual(
    sortRows(rows, 'ascending', (row) => row),
    [1, 2, Number.NaN],
  )
  assert.deepEqual(
    sortRows(rows, 'descending', (row) => row),
    [2, 1, Number.NaN],
  )
})

test('of several keys the first that differs decides, and equal rows keep their order', () => {
  const rows = [
    ['a', 1, Number.NaN],
    ['b', 2, 5],
    ['c', 1, 7],
    ['d', 2, 5],
  ] as const
  const names = sortRows(rows, 'descending', ([, first, second]) => [first, second]).map(([name]) => name)
  assert.deepEqual(names, ['b', 'd', 'c', 'a'])
})

test('a sort is written with a minus where it goes down, and a second press turns it', () => {
  const sort = { column: 'sent', direction: 'descending' } as const
  assert.deepEqual(parseSort(formatSort(sort), sort), sort)
  assert.deepEqual(parseSort(undefined, sort), sort)
  assert.deepEqual(nextSort(sort, 'sent', 'descending'), { column: 'sent', direction: 'ascending' })
  assert.deepEqual(nextSort(sort, 'name', 'ascending'), { column: 'name', direction: 'ascending' })
})
