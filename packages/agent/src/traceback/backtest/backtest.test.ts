import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, counter, defineType, gauge, label, optional, timestamp, viewsOf } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { readRuleBook } from '../../rules/read/read-rule-book.ts'
import { RuleWatch } from '../watching/rule-watch.ts'
import { Backtest } from './backtest.ts'

const S = 1_000_000_000n
const START = 1_780_000_000n * S

const meterType = defineType('meter', 'A meter', {
  time: timestamp(),
  device: label('Meter'),
  phase: label('Phase'),
  beats_total: optional(counter('u64', { help: 'Beats' })),
  heat: optional(gauge('f64', { help: 'Heat' })),
})
const lampType = defineType(
  'lamp',
  'A lamp',
  { time: timestamp(), lamp: label('Lamp'), room: label('Room'), watts: gauge('f64', { help: 'Power' }) },
  { entity: { kind: 'lamp', key: ['lamp'] } },
)

const SIGNALS = [
  { name: 'heat', type: 'meter', field: 'heat' },
  { name: 'beats', type: 'meter', field: 'beats_total' },
  { name: 'watts', type: 'lamp', field: 'watts' },
  { name: 'gone', type: 'meter', field: 'colour' },
  { name: 'elsewhere', type: 'meter', field: 'heat', labels: { device: 'z' } },
  { name: 'nobody', type: 'engine', field: 'speed' },
]

type Row = { readonly type?: 'lamp'; readonly at: number; readonly device: string } & Record<string, unknown>

function bookOf(rules: readonly object[], signals: readonly object[] = SIGNALS) {
  return readRuleBook(JSON.stringify({ sample_history_depth: 1, signals, rules })).book
}

/** Batches of rows; each row has a batch of its own. Time is in seconds after the start. */
function batchesOf(rows: readonly Row[], id = 'meters'): Batch[] {
  const batches: Batch[] = []
  const keep = (batch: Batch) => void batches.push({ ...batch, bytes: batch.bytes.slice() })
  const source = createOwnSource({ id, intervalMs: 1000, labels: {}, emit: keep, onLoss: () => undefined })
  for (const { type, at, device, ...row } of rows) {
    const time = START + BigInt(Math.round(at * 1e9))
    if (type === 'lamp') source.report(lampType, { time, lamp: device, room: 'r1', watts: 0, ...row })
    else source.report(meterType, { time, device, phase: '1', ...row })
    source.flush()
  }
  return batches
}

function give(backtest: Backtest, batches: readonly Batch[]): void {
  for (const batch of batches) {
    const { recordBytes } = batch.type.layout
    const offsets = Array.from({ length: batch.count }, (_, record) => record * recordBytes)
    backtest.take({ batch, views: viewsOf(batch.bytes), offsets })
  }
}

function reportOf(rules: readonly object[], batches: readonly Batch[]) {
  const backtest = new Backtest(bookOf(rules))
  give(backtest, batches)
  const report = backtest.report()
  const second = (ns: bigint) => Number(ns - START) / 1e9
  const events = report.events.map(
    ({ rule, device, startNs, endNs, end }) => `${rule} · ${device} · ${second(startNs)}–${second(endNs)} ${end}`,
  )
  return { ...report, events }
}

const hot = { name: 'hot', signal: 'heat', comparison_type: 'gt', comparison_value: 50 }
const fast = { name: 'fast', signal: 'beats', comparison_type: 'dt_gt', comparison_value: 10, delta_samples: 1 }
const silent = { name: 'silent', signal: 'heat', comparison_type: 'absent', absent_ms: 5000 }
const bright = { name: 'bright', signal: 'watts', comparison_type: 'gt', comparison_value: 50 }
const both = { name: 'both', comparison_type: 'all_of', rules: ['hot', 'bright'], within_ms: 10_000 }

/** Rows of several meters and lamps, which cross the limits again and again. */
function randomRows(): Row[] {
  const random = new Random(SEED)
  const beats = new Map<string, number>()
  return Array.from({ length: 3000 }, (_, index): Row => {
    const device = `m${random.integer(0, 3)}`
    const at = index / 10
    if (random.integer(0, 2) === 0) return { type: 'lamp', at, device, watts: random.integer(0, 59) }
    const total = (beats.get(device) ?? 0) + random.integer(0, 12)
    beats.set(device, total)
    const heat = random.integer(0, 9) === 0 ? {} : { heat: random.integer(0, 59) }
    return { at, device, beats_total: BigInt(total), ...heat }
  })
}

test('finds the events that the agent finds on the same records, in whatever order the series come', async () => {
  const rules = [hot, fast, silent, bright, both]
  const batches = batchesOf(randomRows())
  const live: string[] = []
  let nowNs = START
  const watch = new RuleWatch({
    ...{ sources: () => [], emit: () => undefined, appOf: String, startsAMinute: Number.POSITIVE_INFINITY },
    deviceOf: (_type, labels) => String(labels.device ?? labels.lamp),
    onEdge: (_source, { rule, device, monoNs, isStart }) => live.push(`${rule} ${device} ${monoNs} ${isStart}`),
    clock: { monoNs: () => nowNs, wallOffsetNs: () => 0n },
  })
  await watch.set(bookOf(rules))
  for (const batch of batches) {
    nowNs = viewsOf(batch.bytes).data.getBigUint64(batch.type.time?.offset ?? 0, true)
    watch.accept(batch)
  }
  await watch.close()
  const backtest = new Backtest(bookOf(rules))
  const lampsLast = batches.toSorted((a, b) => Number(a.type === lampType) - Number(b.type === lampType))
  give(backtest, lampsLast)
  // No absence here lasts as long as its rule asks for, and the agent's timer has the clock of the machine.
  const found = backtest.report().events.filter(({ rule }) => rule !== 'silent')
  const edges = found.flatMap(({ rule, device, startNs, endNs, end }) => {
    const name = device.split(' ').at(-1)?.split('/')[0]
    const start = `${rule} ${name} ${startNs} true`
    return end === 'open' ? [start] : [start, `${rule} ${name} ${endNs} false`]
  })
  equal(found.length > 300, true, `${found.length} events`)
  deepEqual(edges.sort(), live.sort())
})

test('an absence begins when its time has passed, and lasts until the next record or the end', () => {
  const rows = [0, 1, 2, 10, 11].map((at) => ({ at, device: 'a', heat: 1 }))
  const other = [...Array(40).keys()].map((at): Row => ({ type: 'lamp', at, device: 'l', watts: 1 }))
  const { events, rules } = reportOf([silent, bright], batchesOf([...rows, ...other]))
  deepEqual(events, ['silent · meter a/1 · 7–10 over', 'silent · meter a/1 · 16–39 open'])
  equal(rules[0]?.fault, undefined, 'the lamp was recorded meanwhile')
})

test('an absence in which nothing at all was recorded may be that of the agent', () => {
  const { events, rules } = reportOf([silent], batchesOf([0, 1, 101, 102].map((at) => ({ at, device: 'a', heat: 1 }))))
  equal(events.length, 1)
  equal(rules[0]?.fault, 'nothing at all was recorded in 1 of its 1 events: Sonde may not have run')
})

test('rules start again after an interruption, and what held before it ends with its last record', () => {
  const heats = [60, 60, 60, 40].map((heat, i) => ({
    at: [0, 1, 300, 301][i] ?? 0,
    device: 'a',
    heat,
    beats_total: BigInt(i * 1000),
  }))
  const { events } = reportOf([hot, fast], batchesOf(heats))
  deepEqual(events, [
    'hot · meter a/1 · 0–1 interrupted',
    'fast · meter a/1 · 1–1 interrupted',
    'hot · meter a/1 · 300–301 over',
    'fast · meter a/1 · 301–301 open',
  ])
})

test('a series that is always reported rarely is not interrupted', () => {
  const rows = [0, 300, 600, 900].map((at, i) => ({ at, device: 'a', heat: i < 3 ? 60 : 40 }))
  const { events } = reportOf([hot], batchesOf(rows))
  // Whether 300 s is usual is not known before the third record.
  deepEqual(events, ['hot · meter a/1 · 0–0 interrupted', 'hot · meter a/1 · 300–900 over'])
})

test('a hole in fast samples interrupts, as the samples of an event may have one', () => {
  const rows = [0, 0.01, 0.02, 0.5, 0.51].map((at) => ({ at, device: 'a', heat: at < 0.51 ? 60 : 40 }))
  const { events } = reportOf([hot], batchesOf(rows))
  deepEqual(events, ['hot · meter a/1 · 0–0.02 interrupted', 'hot · meter a/1 · 0.5–0.51 over'])
})

test('records that several files hold count once', () => {
  const batches = batchesOf([0, 1, 2].map((at) => ({ at, device: 'a', heat: 60 - at * 20 })))
  const { events, repeatedCount, recordCount } = reportOf([hot], [...batches, ...batches])
  deepEqual(events, ['hot · meter a/1 · 0–1 over'])
  deepEqual({ repeatedCount, recordCount }, { repeatedCount: 3, recordCount: 3 })
})

test('batches with symbols of their own, as a store has them, are one series', () => {
  const first = batchesOf([
    { at: 0, device: 'a', heat: 60 },
    { at: 0, device: 'b', heat: 1 },
  ])
  // Here the other meter has the first symbol.
  const second = batchesOf([
    { at: 1, device: 'b', heat: 1 },
    { at: 1, device: 'a', heat: 1 },
  ])
  const { events, rules, repeatedCount } = reportOf([hot], [...first, ...second])
  deepEqual(events, ['hot · meter a/1 · 0–1 over'])
  equal(rules[0]?.series, 2)
  equal(repeatedCount, 0)
})

test('a device is named by its entity, several series of a device by their labels', () => {
  const lamps = ['r1', 'r2'].map((room): Row => ({ type: 'lamp', at: 0, device: 'l1', room, watts: 60 }))
  const { events } = reportOf([bright], batchesOf([...lamps, { type: 'lamp', at: 0, device: 'l2', watts: 60 }]))
  deepEqual(events.map((event) => event.split(' · ')[1]).sort(), ['lamp l1/r1', 'lamp l1/r2', 'lamp l2'])
})

test('a record of a far future harms no other series', () => {
  const rows = [0, 1].map((at) => ({ at, device: 'a', heat: 1 }))
  const batches = batchesOf([...rows, { at: 1e10 - 1.78e9, device: 'b', heat: 1 }])
  const { events, rules, futureCount } = reportOf([silent], batches)
  deepEqual(events, [])
  deepEqual({ futureCount, fault: rules[0]?.fault }, { futureCount: 1, fault: undefined })
})

test('series beyond the memory are left out and counted, and others are not', () => {
  const backtest = new Backtest(bookOf([{ ...fast, delta_samples: 1000 }]), 100_000)
  const rows = [...Array(40).keys()].map((i) => ({ at: i, device: `m${i % 20}`, beats_total: BigInt(i) }))
  give(backtest, batchesOf(rows))
  const { rules, refusedCount, recordCount } = backtest.report()
  equal(rules[0]?.series, 6)
  deepEqual({ recordCount, refusedCount }, { recordCount: 12, refusedCount: 28 })
})

test('says why a rule was not tested', () => {
  const on = (name: string, signal: string) => ({ ...hot, name, signal })
  const rules = [on('a', 'gone'), on('b', 'elsewhere'), on('c', 'nobody'), on('d', 'heat')]
  const any = { name: 'any', comparison_type: 'any_of', rules: ['a', 'd'] }
  const all = { name: 'all', comparison_type: 'all_of', rules: ['a', 'd'], within_ms: 1 }
  const backtest = new Backtest({
    ...bookOf(
      [...rules, any, all].map((rule) => ({ ...rule })),
      SIGNALS,
    ),
  })
  give(backtest, batchesOf([{ at: 0, device: 'a', heat: 1 }]))
  deepEqual(
    backtest.report().rules.map(({ rule, fault }) => [rule, fault]),
    [
      ['a', 'not tested: meter has no field colour'],
      ['b', 'not tested: no series of meter has device=z'],
      ['c', 'not tested: there are no records of engine'],
      ['d', undefined],
      ['any', undefined],
      ['all', 'not tested: nor was a'],
    ],
  )
})

test('records without a time of the wall clock are not tested, and say so', () => {
  const batches = batchesOf([{ at: 0, device: 'a', heat: 60 }]).map(
    (batch): Batch => ({ ...batch, clock: 'monotonic' }),
  )
  const { rules, range } = reportOf([hot], batches)
  equal(rules[0]?.fault, 'not tested: records of meter have no time of the wall clock')
  equal(range, undefined)
})

test('a window below the distance of the records is told', () => {
  const rate = { name: 'rate', signal: 'beats', comparison_type: 'rate_gt', comparison_value: 1, window_ms: 0.5 }
  const rows = [0, 1, 2].map((at) => ({ at, device: 'a', beats_total: BigInt(at) }))
  match(
    reportOf([rate], batchesOf(rows)).rules[0]?.fault ?? '',
    /^its window is 0\.5 ms, and records are 1000 ms apart$/,
  )
})
