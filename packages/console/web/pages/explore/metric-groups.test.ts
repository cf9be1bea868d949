import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedType } from '@sonde/sdk/api'
import { metricGroups, ROW_LIMIT_COUNT, recordTypes } from './metric-groups.ts'

const type = (name: string, count: number): ListedType => ({
  name,
  description: `Values of ${name}`,
  labels: [],
  records: [],
  live: true,
  read: '',
  fields: Array.from({ length: count }, (_, i) => ({
    name: `f${i}`,
    metric: `${name}_f${i}`,
    kind: 'u64',
    role: 'counter',
    unit: '',
    help: '',
  })),
})
const TYPES = [type('sonde_self', 2), type('rdma_hw', 150), type('netdev', 100)]
const seen = (filter: string, ...toggled: readonly string[]) =>
  metricGroups(TYPES, filter, new Set(toggled)).groups.map(({ type: { name }, count, shown }) => [
    name,
    count,
    shown.length,
  ])

test('types are closed and say how many metrics they have; one that is opened shows all of its own', () => {
  assert.deepEqual(seen(''), [
    ['netdev', 100, 0],
    ['rdma_hw', 150, 0],
    ['sonde_self', 2, 0],
  ])
  assert.deepEqual(seen('', 'rdma_hw')[1], ['rdma_hw', 150, 150])
})

test('a filter opens what it finds something in, up to a limit, and what is left out is counted', () => {
  assert.deepEqual(seen('netdev_f9'), [['netdev', 11, 11]])
  assert.deepEqual(seen('netdev_f9', 'netdev'), [['netdev', 11, 0]])
  assert.deepEqual(
    seen('values of').map(([, , shown]) => shown),
    [100, 100, 0],
  )
  assert.equal(metricGroups(TYPES, 'values of', new Set()).leftOutCount, 252 - ROW_LIMIT_COUNT)
  assert.deepEqual(seen('nothing such'), [])
})

test("types with texts and types without any metric are listed as records, Sonde's own last", () => {
  const withText = {
    ...type('shop', 1),
    records: [{ name: 'words', kind: 'symbol', role: 'value', count: 1, unit: '', help: 'What was said' } as const],
  }
  const types = [type('sonde_mark', 0), ...TYPES, withText, type('door', 0)]
  const names = (filter: string) => recordTypes(types, filter).map(({ name }) => name)
  assert.deepEqual(names(''), ['door', 'shop', 'sonde_mark'])
  assert.deepEqual(
    recordTypes([...types, ...types], '').map(({ name }) => name),
    ['door', 'shop', 'sonde_mark'],
    'versions of a type are one',
  )
  assert.deepEqual(names('was SAID'), ['shop'])
})
