import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, counter, defineType, gauge, label, optional, timestamp } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import type { SignalRule, Test } from '../../rules/rule.ts'
import type { Watch } from '../../rules/watch.ts'
import { type ReportedEdge, ReportedSignals } from './reported-signals.ts'

const meterType = defineType('meter', 'A meter', {
  time: timestamp(),
  device: label('Meter'),
  beats_total: optional(counter('u64', { help: 'Beats' })),
  heat: optional(gauge('f64', { help: 'Heat' })),
})

/** Reports rows, and what the rules say to them. */
function start(
  tests: readonly (readonly [field: string, test: Test, labels?: Record<string, string>])[],
  seriesMax = 10,
  alter: (batch: Batch) => Batch = (batch) => batch,
) {
  const edges: ReportedEdge[] = []
  const signals = new ReportedSignals({
    seriesMax,
    onEdge: (edge) => edges.push(edge),
    deviceOf: (_type, { device }) => `meter-${device}`,
  })
  const rules = tests.map(([field, test], signal): SignalRule => ({ name: `${test.kind} of ${field}`, signal, test }))
  const watched = tests.map(([field, , labels = {}]) => ({
    name: field,
    type: 'meter',
    field,
    labels,
    isCounter: false,
  }))
  const watch: Watch = { signals: watched, rules }
  signals.watch(watch)
  const accept = (batch: Batch) => signals.take(alter(batch))
  const source = createOwnSource({ id: 'meters', intervalMs: 10, labels: {}, emit: accept, onLoss: () => undefined })
  let time = BigInt(Date.now()) * 1_000_000n
  const put = (device: string, row: { beats_total?: bigint | number; heat?: number }, offNs = 0n) => {
    time += 1_000_000n
    source.report(meterType, { time: time + offNs, device, ...row })
    source.flush()
    return time
  }
  const said = () => edges.map(({ rule, device, isStart }) => `${rule} ${device} ${isStart ? '+' : '-'}`)
  return { signals, put, said, edges, source }
}

const above = (value: bigint | number): Test => ({ kind: 'gt', value, onSamples: 1, offSamples: 1 })

test('rules see each series by itself, exact beyond 53 bits', () => {
  const top = 2n ** 60n
  const { put, said } = start([['beats_total', above(top)]])
  put('a', { beats_total: top })
  put('b', { beats_total: top + 1n })
  put('a', { beats_total: top + 1n })
  deepEqual(said(), ['gt of beats_total meter-b +', 'gt of beats_total meter-a +'])
})

test('a record has its own time, on the monotonic clock', () => {
  const { put, edges } = start([['heat', above(1)]])
  const first = put('a', { heat: 0 })
  const second = put('a', { heat: 2 })
  put('a', { heat: 0 })
  const [began, ended] = edges
  equal(second - first, 1_000_000n)
  const apartNs = Number((ended?.monoNs ?? 0n) - (began?.monoNs ?? 0n))
  equal(Math.abs(apartNs - 1e6) < 1e5, true, `${apartNs} ns`)
})

test('an absent value is a gap, and matches nothing', () => {
  const rise: Test = { kind: 'dt_gt', value: 5n, overSamples: 1, offSamples: 1 }
  const { put, said } = start([['beats_total', rise]])
  put('a', { beats_total: 0 })
  put('a', {})
  put('a', { beats_total: 100 })
  deepEqual(said(), [])
  put('a', { beats_total: 200 })
  deepEqual(said(), ['dt_gt of beats_total meter-a +'])
})

test('labels of a signal choose series', () => {
  const { put, said } = start([['heat', above(1), { device: 'b' }]])
  put('a', { heat: 2 })
  put('b', { heat: 2 })
  deepEqual(said(), ['gt of heat meter-b +'])
})

test('a series that does not come any more is absent after its time, and ends with the next record', () => {
  const { put, said, signals } = start([['heat', { kind: 'absent', forNs: 5e9 }]])
  put('a', { heat: 1 })
  signals.wait(process.hrtime.bigint() + 4_000_000_000n)
  deepEqual(said(), [])
  signals.wait(process.hrtime.bigint() + 6_000_000_000n)
  put('a', { heat: 1 })
  deepEqual(said(), ['absent of heat meter-a +', 'absent of heat meter-a -'])
})

test('series beyond the limit are counted, and take no place of others', () => {
  const { put, said, signals } = start([['heat', above(1)]], 2)
  for (const device of ['a', 'b', 'c', 'c', 'd']) put(device, { heat: 2 })
  equal(signals.refused, 3)
  deepEqual(said(), ['gt of heat meter-a +', 'gt of heat meter-b +'])
})

test('a series that was forgotten for others is opened again by its next record', () => {
  const arrivals = { lateMs: 0 }
  const { signals, put, said } = start([['heat', above(80)]], 1, (batch) => {
    return { ...batch, arrivedMs: batch.arrivedMs + arrivals.lateMs }
  })
  put('a', { heat: 90 })
  arrivals.lateMs = 700_000
  put('b', { heat: 90 })
  deepEqual(said(), ['gt of heat meter-a +', 'gt of heat meter-a -', 'gt of heat meter-b +'])
  put('a', { heat: 90 })
  equal(signals.refused, 1, 'b has the place')
  arrivals.lateMs = 1_400_000
  put('a', { heat: 90 })
  deepEqual(said().slice(3), ['gt of heat meter-b -', 'gt of heat meter-a +'])
})

test('a record that was stamped before the clock was set counts as of its arrival', () => {
  for (const offNs of [-3_600_000_000_000n, 3_600_000_000_000n]) {
    const { put, edges } = start([['heat', above(80)]])
    const beforeNs = process.hrtime.bigint()
    put('a', { heat: 90 }, offNs)
    const atNs = edges[0]?.monoNs ?? 0n
    ok(atNs >= beforeNs - 1_000_000n && atNs <= process.hrtime.bigint() + 1_000_000n, `${atNs - beforeNs} ns`)
  }
})

test('a source that is gone leaves no series', () => {
  const { put, signals, source, said } = start([['heat', above(1)]], 1)
  put('a', { heat: 2 })
  signals.retire(source.info)
  put('b', { heat: 2 })
  deepEqual(said().at(-1), 'gt of heat meter-b +')
})

test('active rules of a source end when it is gone', () => {
  const { put, signals, source, said } = start([['heat', above(1)]])
  put('a', { heat: 2 })
  signals.retire(source.info)
  deepEqual(said(), ['gt of heat meter-a +', 'gt of heat meter-a -'])
})

test('a client that names many series leaves room for those of others, and rings have a size together', () => {
  const { signals, said, edges } = start([['heat', above(1)]], 16)
  const of = (client: bigint, id: string) => {
    const accept = (batch: Batch) => signals.take({ ...batch, origin: 'client', page: { client, sequence: 1n } })
    const source = createOwnSource({ id, intervalMs: 10, labels: {}, emit: accept, onLoss: () => undefined })
    return (device: string) => {
      source.report(meterType, { time: BigInt(Date.now()) * 1_000_000n, device, heat: 2 })
      source.flush()
    }
  }
  const [greedy, honest] = [of(1n, 'greedy'), of(2n, 'honest')]
  for (let device = 0; device < 100; device++) greedy(`g${device}`)
  edges.length = 0
  honest('h')
  deepEqual(said(), ['gt of heat meter-h +'])

  const long: Test = { kind: 'quantile_gt', value: 1, quantile: 0.5, overSamples: 1_000_000, offSamples: 1 }
  const far = start([['heat', long]], 1000)
  for (let device = 0; device < 20; device++) far.put(`d${device}`, { heat: 2 })
  equal(far.signals.refused, 4, '256 MiB hold 16 rings of a million samples')
})

test('two types of one name keep their samples apart', () => {
  const { put, signals, said } = start([['heat', above(1)]])
  put('a', { heat: 0 })
  const otherType = defineType('meter', 'Another', { device: label('Meter'), heat: gauge('u8') })
  const accept = (batch: Batch) => signals.take(batch)
  const other = createOwnSource({ id: 'meters', intervalMs: 10, labels: {}, emit: accept, onLoss: () => undefined })
  other.report(otherType, { device: 'a', heat: 200 })
  other.flush()
  deepEqual(said(), ['gt of heat meter-a +'])
})

/** Times, values and numbers that a client may report. */
const ODD_TIMES = [0n, 1n, 2n ** 63n, 2n ** 64n - 1n] as const
/** How far the clocks of arrival may have drifted from each other. Unit: nanoseconds. */
const SPARE_NS = 1_000_000_000n
const ODD_VALUES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 5e-324, 1e308] as const
const ODD_COUNTS = [0n, 1n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n] as const

const overSamples = 2
const ODD_TESTS: readonly (readonly [string, Test])[] = (['beats_total', 'heat'] as const).flatMap((field) => {
  const value = field === 'heat' ? 1 : 1n
  return (
    [
      { kind: 'gt', value, onSamples: 1, offSamples: 1 },
      { kind: 'lt', value, onSamples: 1, offSamples: 1 },
      { kind: 'inc_gt', value },
      { kind: 'dt_gt', value, overSamples, offSamples: 1 },
      { kind: 'dt_lt', value, overSamples, offSamples: 1 },
      { kind: 'change', offSamples: 1 },
      { kind: 'absent', forNs: 1e6 },
    ] as Test[]
  ).map((test) => [field, test] as const)
})

test('for any times and values of a client, edges alternate and have the times of arrival', () => {
  const random = new Random(SEED)
  // The SDK refuses such times; a client of its own making does not.
  const asClient = (batch: Batch): Batch => {
    const bytes = batch.bytes.slice()
    new DataView(bytes.buffer).setBigUint64(meterType.time?.offset ?? 0, random.pick(ODD_TIMES), true)
    return { ...batch, bytes, origin: 'client', page: { client: 7n, sequence: 1n } }
  }
  const { source, edges } = start(ODD_TESTS, 10, asClient)
  const beforeNs = process.hrtime.bigint()
  for (let row = 0; row < 3000; row++) {
    source.report(meterType, {
      ...{ time: BigInt(Date.now()) * 1_000_000n, device: `${random.integer(0, 2)}` },
      ...(random.chance(0.8) ? { heat: random.pick(ODD_VALUES) } : {}),
      ...(random.chance(0.8) ? { beats_total: random.pick(ODD_COUNTS) } : {}),
    })
    source.flush()
  }
  const open = new Set<string>()
  for (const { rule, device, isStart } of edges) {
    const key = `${rule} ${device}`
    equal(open.has(key), !isStart, `${key} of seed ${SEED}`)
    if (isStart) open.add(key)
    else open.delete(key)
  }
  ok(edges.length > 100, String(edges.length))
  const afterNs = process.hrtime.bigint()
  // The two clocks of arrival were compared once, at the start.
  for (const { monoNs } of edges) ok(monoNs > beforeNs - SPARE_NS && monoNs < afterNs + SPARE_NS, `${monoNs}`)
})

test('not a number is above nothing and below nothing', () => {
  const { put, said } = start([
    ['heat', above(1)],
    ['heat', { kind: 'lt', value: 1, onSamples: 1, offSamples: 1 }],
  ])
  put('a', { heat: Number.NaN })
  put('a', { heat: Number.NaN })
  deepEqual(said(), [])
})
