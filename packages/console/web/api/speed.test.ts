import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedSource, ListedType, MetricQuery } from '@sonde/sdk/api'
import { commonStep, intervalsOf, splitBySpeed } from './speed.ts'

const query = (metric: string): MetricQuery => ({ metric, function: 'rate' })
const type = (name: string): ListedType => ({
  name,
  description: '',
  labels: [],
  records: [],
  live: true,
  read: '',
  fields: [{ name: 'x', metric: `${name}_x`, kind: 'u64', role: 'counter', unit: '', help: '' }],
})
const source = (name: string, intervalMs: number, types: string[], state = 'reading'): ListedSource =>
  ({ name, intervalMs, types, state }) as unknown as ListedSource

const TYPES = [type('rdma'), type('netdev'), type('pci'), type('alone')]
const INTERVALS = intervalsOf(TYPES, [
  source('rdma', 1_000, ['rdma']),
  source('simulator', 10, ['rdma']),
  source('netdev', 250, ['netdev']),
  source('pci', 5_000, ['pci']),
  source('gone', 10, ['pci'], 'absent'),
])

test('a metric is as quick as the quickest source that reads it now', () => {
  assert.deepEqual(
    [...INTERVALS],
    [
      ['rdma_x', 10],
      ['netdev_x', 250],
      ['pci_x', 5_000],
      ['alone_x', undefined],
    ],
  )
})

test('only what is read that often is asked ten times a second', () => {
  const queries = ['rdma_x', 'netdev_x', 'pci_x', 'alone_x'].map(query)
  assert.deepEqual(splitBySpeed(queries, INTERVALS, 1_000), {
    fast: { stepMs: 100, queries: [query('rdma_x')] },
    steady: { stepMs: 1_000, queries: ['netdev_x', 'pci_x', 'alone_x'].map(query) },
  })
})

test('where nothing is quicker than the window asks, all is asked at its step', () => {
  const queries = ['pci_x', 'alone_x'].map(query)
  assert.deepEqual(splitBySpeed(queries, INTERVALS, 1_000), {
    fast: { stepMs: 1_000, queries: [] },
    steady: { stepMs: 1_000, queries },
  })
  assert.equal(splitBySpeed([query('rdma_x')], new Map(), 1_000).fast.queries.length, 0)
})

test('signals that are compared share the step of the slowest', () => {
  assert.equal(commonStep([query('rdma_x')], INTERVALS, 1_000), 100)
  assert.equal(commonStep([query('rdma_x'), query('netdev_x')], INTERVALS, 1_000), 300)
  assert.equal(commonStep([query('rdma_x'), query('pci_x')], INTERVALS, 1_000), 1_000)
  assert.equal(commonStep([query('rdma_x'), query('alone_x')], INTERVALS, 1_000), 1_000)
  assert.equal(commonStep([query('rdma_x'), query('not_had')], INTERVALS, 1_000), 100)
  assert.equal(commonStep([], INTERVALS, 1_000), 1_000)
})
