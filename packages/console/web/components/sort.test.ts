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

test('rows that need attention stay on top of any sort', () => {
  const rows = [
    { name: 'a', rank: 2 },
    { name: 'b', rank: 0 },
    { name: 'c', rank: 2 },
  ]
  const names = sortRows(
    rows,
    'descending',
    ({ name }) => name,
    ({ rank }) => rank,
  ).map(({ name }) => name)
  assert.deepEqual(names, ['b', 'c', 'a'])
})

test('a sort is written with a minus where it goes down, and a second press turns it', () => {
  const sort = { column: 'sent', direction: 'descending' } as const
  assert.deepEqual(parseSort(formatSort(sort), sort), sort)
  assert.deepEqual(parseSort(undefined, sort), sort)
  assert.deepEqual(nextSort(sort, 'sent', 'descending'), { column: 'sent', direction: 'ascending' })
  assert.deepEqual(nextSort(sort, 'name', 'ascending'), { column: 'name', direction: 'ascending' })
})
