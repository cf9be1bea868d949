import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { type Batch, DtbDecoder, readRecords, viewsOf } from '@sonde/sdk'
import { markType } from '@sonde/sdk/internal'
import { parse } from 'valibot'
import { cutWindow } from '../hosting/cut-window.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { simulationOf } from '../sources/simulator/scenario-play.ts'
import { secondsOfMs } from '../sources/simulator/time.ts'
import { simulatorDiagOptions } from '../sources/simulator-diag/config.ts'
import { SimulatorDiag } from '../sources/simulator-diag/source.ts'
import { tracebackDefaults } from '../traceback/config.ts'
import { decodeEvent } from '../traceback/keep/note.ts'
import { memoryDisk } from '../traceback/keep/test-disk.ts'
import { PastEvents } from './past-events.ts'
import { faultsOf } from './past-faults.ts'
import { PastNode } from './past-node.ts'

const STARTED_MS = Date.UTC(2026, 7, 1, 14, 3)
const PAST_S = 600
const SAMPLE_TYPE = 'doca_diag_sample'
const NIC = 'mlx5_0'
/** Pauses that the NIC sends on the priority of RDMA. */
const TX_PAUSES = '0x1140000500000300'
/** A past with a hot GPU, then a pause storm. The NIC sends pauses in each step of the job, and in the storm always. */
const options = parse(simulatorDiagOptions, {
  ...{ seed: 12, node_class: 'small', past_s: PAST_S },
  ...{ counters: [TX_PAUSES, 'port_rx_bytes'], sample_period_us: 1000 },
})
const rings = { name: 'simulator_diag', index: 1, intervalMs: 1000, options }
const past = {
  ...{ options, intervalMs: 1000, name: 'simulator', host: hostname(), startedMs: STARTED_MS },
  ...{ fromMs: STARTED_MS - PAST_S * 1000, toMs: STARTED_MS - 1000 },
}
/** Before the storm. */
const beforeStorm = { ...past, toMs: STARTED_MS - 300_000 }
const node = new PastNode(past, () => undefined)
node.step()

const PAUSES = { name: 'pauses', data_id: TX_PAUSES }
/** Rules on the samples of the NIC. */
const PAUSES_FILE = {
  ...{ sample_history_depth: 1, diag_sample_period_ns: 1_000_000, 'data-ids': [PAUSES] },
  rules: [{ ...PAUSES, comparison_type: 'dt_gt', comparison_value: 0, delta_samples: 200, deactivate_samples: 600 }],
}

/** Makes the latest events of a file of rules. */
async function eventsOf(given: {
  readonly eventsMax: number
  /** Default: the NIC sends pauses. */
  readonly file?: object
  readonly isSampled?: boolean
  /** Default: the storm is left out. */
  readonly filled?: typeof past
  readonly taken?: ReadonlySet<number>
}) {
  const { eventsMax, file = PAUSES_FILE, isSampled = true, filled = beforeStorm, taken = new Set() } = given
  const { book } = readRuleBook(JSON.stringify(file))
  const config = { ...tracebackDefaults, dir: '/events', max_event_s: 300 }
  const disk = memoryDisk()
  const marks: { source: string; event: number; edge: string; ms: number }[] = []
  const ids: number[] = []
  const { simulation, devices } = node
  const made = new PastEvents({
    events: { rings: isSampled ? rings : undefined, book, version: '1', taken, eventsMax, config },
    ...{ past: filled, simulation, devices, disk },
    take: (source, { bytes, count, symbols }) => {
      for (const { event, edge = '', time } of readRecords(markType, viewsOf(bytes.slice()), count, symbols))
        marks.push({ source, event: Number(event), edge, ms: Number(BigInt(time ?? 0) / 1000n) / 1000 })
    },
    onKept: (id) => ids.push(id),
    warn: (_facts, message) => assert.fail(message),
  })
  const counts = await made.make()
  const fileOf = (name: string) => disk.files.get(`/events/${name}`) as Uint8Array
  const events = ids.map((id) => decodeEvent(fileOf(`${id}.json`)))
  return {
    counts,
    marks,
    ids,
    events,
    names: [...disk.files.keys()],
    samplesOf: (id: number) => samplesIn(fileOf(`${id}.bin`)),
  }
}

type Sample = Readonly<Record<string, unknown>>

const recordsOf = ({ type, bytes, count, symbols }: Pick<Batch, 'type' | 'bytes' | 'count' | 'symbols'>): Sample[] => [
  ...readRecords(type, viewsOf(bytes.slice()), count, symbols),
]

/** The samples of the NIC in the file of an event, and the types of the other records in it. */
function samplesIn(bytes: Uint8Array): { readonly samples: Sample[]; readonly types: ReadonlySet<string> } {
  const decoder = new DtbDecoder({ bytes: bytes.byteLength, read: (at, count) => bytes.subarray(at, at + count) })
  const samples: Sample[] = []
  const types = new Set<string>()
  let step = decoder.next()
  for (; step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    types.add(step.batch.type.name)
    if (step.batch.type.name === SAMPLE_TYPE) samples.push(...recordsOf(step.batch))
  }
  assert.equal(step.end.state, 'ended')
  return { samples, types }
}

/** The samples of the NIC in a window, of a source that ran at that time. */
async function sampledThen({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Promise<Sample[]> {
  const outlet = new SourceOutlet({
    ...{ name: 'then', intervalMs: 1000, paths: { procfs: '', sysfs: '' }, emit: () => undefined },
    stats: { failed: { add: (place) => assert.fail(place) }, dropped: new Map() },
  })
  let nowNs = nsOf(fromMs - 10)
  const now = () => nowNs
  const source = new SimulatorDiag({ ...options, ring_ms: 60_000 }, outlet.context, {
    clocks: { wallNs: now, monoNs: now },
    simulation: simulationOf(options, secondsOfMs(STARTED_MS)),
  })
  for (const ms of [fromMs - 10, toMs + 10]) {
    nowNs = nsOf(ms)
    await source.duties()[0]?.run()
  }
  const tap = outlet.tap(SAMPLE_TYPE, NIC)
  assert.ok(tap !== undefined)
  const times = { fromMonoNs: String(nsOf(fromMs)), toMonoNs: String(nsOf(toMs)), wallOffsetNs: '0' }
  return [...outlet.piecesOf(cutWindow(tap, { ...times, bytesMax: 1 << 24 }), 1 << 24)].flatMap(recordsOf)
}

const nsOf = (ms: number) => BigInt(Math.round(ms * 1000)) * 1000n

test('an event of the past has the samples and the records of its time', async () => {
  const { counts, marks, ids, events, names, samplesOf } = await eventsOf({ eventsMax: 2 })
  assert.ok(counts.leftOut > 2)
  assert.equal(counts.faultsLeft, 0)
  assert.deepEqual(names.sort(), ids.flatMap((id) => [`/events/${id}.bin`, `/events/${id}.json`]).sort())
  assert.equal(events.length, 2)
  for (const { id, window, startMs, endMs, ...event } of events) {
    assert.ok(window !== undefined && endMs !== undefined)
    assert.deepEqual([event.rule, event.device, event.source], ['pauses', 'sim-nic-mlx5_0-1', 'simulator_diag'])
    assert.deepEqual([event.end, event.isSimulated, event.leftOut], ['cleared', true, 0])
    assert.equal(event.condition, 'pauses rises by more than 0 in 200 samples')
    assert.deepEqual([window.fromMs, window.toMs], [startMs - 500, endMs + 500])
    const { samples, types } = samplesOf(id)
    const then = await sampledThen(window)
    assert.ok(then.length > 1500, `${then.length} samples`)
    assert.deepEqual(samples, then)
    assert.ok(types.has('nvml_gpu') && types.has('rdma_port'), [...types].join(' '))
    assert.deepEqual(
      marks.filter(({ event: of }) => of === id),
      [
        { source: 'simulator_diag', event: id, edge: 'opened', ms: startMs },
        { source: 'simulator_diag', event: id, edge: 'ended', ms: endMs },
      ],
    )
  }
})

test('the latest events are made, and a number that is in use is not given again', async () => {
  const all = await eventsOf({ eventsMax: 1000 })
  const starts = (of: typeof all) => of.events.map(({ startMs }) => startMs)
  assert.deepEqual(
    starts(all),
    starts(all).toSorted((a, b) => a - b),
  )
  const [{ onsetMs = 0, endMs = 0 } = {}] = faultsOf(node.simulation)
  assert.ok(starts(all).every((ms) => ms > onsetMs - 5000 && ms < endMs))
  const taken = new Set(all.ids.slice(-1))
  const latest = await eventsOf({ eventsMax: 2, taken })
  assert.deepEqual(starts(latest), starts(all).slice(-2))
  assert.equal(latest.counts.leftOut, all.events.length - 2)
  assert.equal(latest.ids[0], all.ids.at(-2))
  assert.ok(!taken.has(latest.ids[1] as number))
})

test('an event begins in the first minute of a fault, and is watched until it ends', async () => {
  const { events, marks, counts } = await eventsOf({ eventsMax: 1, filled: past })
  assert.equal(counts.faultsLeft, 1)
  const [, storm] = faultsOf(node.simulation)
  const [{ startMs, endMs = 0, end } = { startMs: 0 }] = events
  assert.ok(storm !== undefined && Math.abs(startMs - storm.onsetMs) < 5000)
  assert.equal(end, 'cleared')
  assert.ok(endMs > storm.onsetMs + 70_000 && Math.abs(endMs - storm.endMs) < 5000, `${endMs - storm.endMs} ms`)
  assert.deepEqual(
    marks.map(({ source, edge }) => [source, edge]),
    [
      ['simulator_diag', 'opened'],
      ['simulator_diag', 'ended'],
    ],
  )
  const cut = await eventsOf({ eventsMax: 1, filled: { ...past, toMs: storm.onsetMs + 10_000 } })
  assert.deepEqual(
    [cut.events.map((event) => event.end), cut.marks.at(-1)?.source],
    [['stopped'], 'traceback'],
    'the past ends before it',
  )
  const none = await eventsOf({ eventsMax: 0 })
  assert.deepEqual([none.ids, none.names, none.counts], [[], [], { leftOut: 0, faultsLeft: 1 }])
})

test('rules on reported records and combinations have events too, without samples of NICs as well', async () => {
  const isHot = { comparison_type: 'gt', comparison_value: 86, signal: 'temperature' }
  const file = {
    sample_history_depth: 1,
    signals: [{ name: 'temperature', type: 'nvml_gpu', field: 'gpu_temp' }],
    rules: [
      { name: 'hot', ...isHot },
      { name: 'burning', ...isHot, comparison_value: 200 },
      { name: 'trouble', comparison_type: 'any_of', rules: ['hot', 'burning'] },
    ],
  }
  const { events, marks } = await eventsOf({ eventsMax: 20, file, isSampled: false })
  const [hotGpu] = faultsOf(node.simulation)
  assert.ok(hotGpu !== undefined)
  for (const { startMs, endMs = 0, isSimulated } of events) {
    assert.ok(isSimulated)
    assert.ok(startMs > hotGpu.onsetMs && startMs < hotGpu.endMs, 'it begins in the fault')
    assert.ok(endMs > startMs + 10_000 && endMs < hotGpu.endMs + 10_000, `${endMs - startMs} ms`)
    assert.equal(startMs % 1000, 0, 'it begins with a record of the history')
  }
  assert.deepEqual(events.map(({ rule, source, device, end }) => [rule, source, device, end]).sort(), [
    ['hot', 'simulator', 'sim-gpu-0', 'cleared'],
    ['trouble', 'traceback', 'sim-gpu-0', 'cleared'],
  ])
  assert.deepEqual(new Set(marks.map(({ source }) => source)), new Set(['traceback']))
})
