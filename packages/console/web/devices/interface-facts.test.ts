import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testColumns } from '../pages/test-columns.ts'
import { INTERFACE_QUERIES, interfaceColumns, newestValue, sumColumns } from './interface-data.ts'
import { downFor, interfaceFact, interfaceState, movingFor } from './interface-facts.ts'

const GAP = Number.NaN
const of = (...values: number[]): Float64Array => Float64Array.from(values)

/** One interface of some columns. */
function rowOf(columns: Partial<Record<keyof typeof INTERFACE_QUERIES, readonly number[]>>, device = 'eth0') {
  const answers = Object.entries(columns).map(([signal, values]) => ({
    query: INTERFACE_QUERIES[signal as keyof typeof INTERFACE_QUERIES],
    series: [{ labels: { device }, values }],
  }))
  return interfaceColumns(testColumns(answers))[0]!
}

test('interfaces are in the order of their numbers, the loopback last', () => {
  const series = ['lo', 'eth10', 'eth2'].map((device) => ({ labels: { device }, values: [1] }))
  const rows = interfaceColumns(testColumns([{ query: INTERFACE_QUERIES.sent, series }]))
  assert.deepEqual(
    rows.map(({ device }) => device),
    ['eth2', 'eth10', 'lo'],
  )
})

test('a simulated interface says so, and lends no samples to a real one of its name', () => {
  const series = [
    { labels: { device: 'eth0', simulated: 'true' }, values: [9] },
    { labels: { device: 'eth0' }, values: [1] },
    { labels: { device: 'eth10', simulated: 'true' }, values: [2] },
  ]
  const rows = interfaceColumns(testColumns([{ query: INTERFACE_QUERIES.sent, series }]))
  assert.deepEqual(
    rows.map(({ device, simulated, columns }) => [device, simulated, columns.sent?.[0]]),
    [
      ['eth0', false, 1],
      ['eth10', true, 2],
    ],
  )
})

const NOW = { stepMs: 1_000, isNow: true }
const WINDOW = { stepMs: 1_000, isNow: false }

test('a sum is absent only where every part is', () => {
  assert.deepEqual([...sumColumns([of(1, GAP, GAP), undefined, of(2, 3, GAP)], 3)], [3, 3, GAP])
})

test('the newest value may be a few samples old, but not more', () => {
  assert.equal(newestValue(of(7, GAP, GAP)), 7)
  assert.ok(Number.isNaN(newestValue(of(7, ...new Array<number>(10).fill(GAP)))))
})

test('an interface that went down is critical, one that never was up is not', () => {
  const fell = interfaceFact(rowOf({ up: [1, 1, 0, 0], sent: [1, 1, 0, 0] }), NOW)
  assert.equal(fell.downForMs, 2_000)
  assert.deepEqual(interfaceState(fell), { tone: 'critical', word: 'Down' })
  const never = interfaceFact(rowOf({ up: [0, 0], sent: [0, 0] }), NOW)
  assert.deepEqual(interfaceState(never), { tone: 'absent', word: 'Down' })
  assert.equal(downFor(of(1, 0, GAP, 0), NOW), 3_000)
  assert.equal(downFor(of(1, 1), NOW), undefined)
})

test('an interface without samples has no values; only where the server says so is it gone', () => {
  const silent = rowOf({ up: [1, 0, ...new Array<number>(12).fill(GAP)] })
  assert.equal(interfaceState(interfaceFact(silent, NOW)).word, 'No values')
  assert.equal(interfaceState(interfaceFact(silent, NOW, new Set(['eth0']))).word, 'No values')
  assert.equal(interfaceState(undefined).word, 'No values')
  const left = interfaceFact(silent, NOW, new Set(['eth1']))
  assert.equal(left.isGone, true)
  assert.equal(left.downForMs, undefined)
  assert.equal(interfaceState(left).word, 'Gone')
})

test('errors are worse than drops, and both say how many', () => {
  const errors = interfaceFact(rowOf({ up: [1, 1], errorsIn: [0, 3], dropsOut: [9, 9] }), NOW)
  assert.deepEqual(interfaceState(errors), { tone: 'critical', word: 'Counts errors', trouble: '3/s errors' })
  const drops = interfaceFact(rowOf({ up: [1, 1], errorsIn: [0, 0], dropsOut: [0, 2] }), NOW)
  assert.equal(interfaceState(drops).tone, 'warning')
})

test('an interface whose state nobody says is not said to be anything', () => {
  const fact = interfaceFact(rowOf({ sent: [1, 1] }, 'toString'), NOW)
  assert.deepEqual(interfaceState(fact), { tone: 'absent', word: 'State unknown' })
})

test('a counter that pauses shortly is still moving', () => {
  assert.equal(movingFor(of(0, 5, 0, 0, 5, 0), NOW), 5_000)
  assert.equal(movingFor(new Float64Array(20), NOW), 0)
})

test('of a window that is over the worst moment counts, wherever in it that was', () => {
  const late = new Array<number>(20).fill(0)
  const up = new Array<number>(20).fill(1)
  const fell = interfaceFact(rowOf({ up: [1, 0, 0, ...up] }), WINDOW)
  assert.deepEqual(interfaceState(fell), { tone: 'critical', word: 'Down for 2\u00a0s' })
  const errors = interfaceFact(rowOf({ up: [1, 1, ...up], errorsIn: [7, 3, ...late] }), WINDOW)
  assert.deepEqual(interfaceState(errors), { tone: 'critical', word: 'Counts errors', trouble: '7/s errors' })
  assert.equal(errors.movingForMs, 2_000)
  assert.equal(interfaceState(interfaceFact(rowOf({ up: [1, ...new Array<number>(20).fill(GAP)] }), WINDOW)).word, 'Up')
})
