import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busyShare, HOST_QUERIES, hostColumns, meanOf, NO_HOST, trailingShare } from './host-data.ts'
import { testColumns } from './test-columns.ts'

const GAP = Number.NaN

test('busy is what is neither idle nor waiting, within its bounds', () => {
  assert.deepEqual([...busyShare(Float64Array.of(0.5, 1.02, GAP), Float64Array.of(0.25, GAP, 0))], [0.25, 0, GAP])
  assert.deepEqual([...busyShare(Float64Array.of(0.75), undefined)], [0.25])
})

test('a mean is over those that have a value', () => {
  assert.deepEqual([...meanOf([Float64Array.of(1, GAP, GAP), Float64Array.of(3, 5, GAP)])], [2, 5, GAP])
})

test('a share that comes in jumps is the mean of the time before, and never more than all of it', () => {
  assert.deepEqual([...trailingShare(Float64Array.of(0, 1.5, 0, GAP, 0.5), 2)], [0, 0.75, 0.75, GAP, 0.5])
  assert.deepEqual([...trailingShare(Float64Array.of(1.2, 1.1), 1)], [1, 1])
})

test('memory in use is what is not available', () => {
  const host = hostColumns(
    testColumns([
      { query: HOST_QUERIES.memoryTotal, series: [{ labels: {}, values: [100, 100] }] },
      { query: HOST_QUERIES.memoryAvailable, series: [{ labels: {}, values: [60, GAP] }] },
      { query: HOST_QUERIES.idle, series: [{ labels: { cpu: '0' }, values: [1, 0.5] }] },
    ]),
  )
  assert.deepEqual([...host.memoryUsed!], [40, GAP])
  assert.deepEqual(
    host.busy.map(({ name, values }) => [name, [...values]]),
    [['0', [0, 0.5]]],
  )
})

test('of a real and a simulated host it is the real one that is shown, and the simulated one where it is alone', () => {
  const series = (resource: string, simulated: boolean) => {
    return { labels: { resource, ...(simulated ? { simulated: 'true' } : {}) }, values: [simulated ? 0.4 : 0.1] }
  }
  const shown = (...given: ReturnType<typeof series>[]) =>
    hostColumns(testColumns([{ query: HOST_QUERIES.pressure, series: given }])).pressure.map(({ name, values }) => [
      name,
      ...values,
    ])
  assert.deepEqual(shown(series('io', false), series('io', true)), [['io', 0.1]])
  assert.deepEqual(shown(series('io', true)), [['io', 0.4]])
})

test('a host that says nothing has no columns', () => {
  assert.equal(hostColumns({ ...testColumns([]), grid: undefined }), NO_HOST)
})
