import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, DtbDecoder, readRecords, viewsOf } from '@sonde/sdk'
import { markType } from '@sonde/sdk/internal'
import { parse } from 'valibot'
import { cutWindow } from '../hosting/cut-window.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { sampleFieldOf } from '../sources/doca-telemetry-diag/type.ts'
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
/** A past whose first fault is a pause storm. A hot GPU, which sends no pauses, is the second. */
const options = parse(simulatorDiagOptions, {
  ...{ seed: 12, node_class: 'small', past_s: PAST_S },
  ...{ counters: [TX_PAUSES, 'port_rx_bytes'], sample_period_us: 1000 },
})
const rings = { name: 'simulator_diag', index: 1, intervalMs: 1000, options }
const past = {
  ...{ options, intervalMs: 1000, name: 'simulator', host: 'here', startedMs: STARTED_MS },
  ...{ fromMs: STARTED_MS - PAST_S * 1000, toMs: STARTED_MS - 1000 },
}
const node = new PastNode(past, () => undefined)
node.step()

const RISES = { comparison_type: 'dt_gt', comparison_value: 0, delta_samples: 200, deactivate_samples: 600 }

/** Makes the latest events of a rule about the pauses that the NIC sends. */
async function eventsOf(given: {
  readonly eventsMax: number
  /** Default: the number of pauses rises. */
  readonly rule?: object
  readonly taken?: ReadonlySet<number>
}) {
  const { eventsMax, rule = RISES, taken = new Set() } = given
  const pauses = { name: 'pauses', data_id: TX_PAUSES }
  const file = { sample_history_depth: 1, diag_sample_period_ns: 1_000_000, 'data-ids': [pauses] }
  const { book } = readRuleBook(JSON.stringify({ ...file, rules: [{ ...pauses, ...rule }] }))
  const disk = memoryDisk()
  const marks: { source: string; event: number; edge: string; ms: number }[] = []
  const ids: number[] = []
  const { simulation, devices } = node
  const made = new PastEvents({
    events: { rings, book, version: '1', taken, eventsMax, config: { ...tracebackDefaults, dir: '/events' } },
    ...{ past, simulation, devices, disk },
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
    assert.ok(then.length > 1500)
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
  assert.ok(
    starts(all).every((ms) => ms < STARTED_MS - 500_000),
    'only the storm has events',
  )
  const taken = new Set(all.ids.slice(-1))
  const latest = await eventsOf({ eventsMax: 2, taken })
  assert.deepEqual(starts(latest), starts(all).slice(-2))
  assert.equal(latest.counts.leftOut, all.events.length - 2)
  assert.equal(latest.ids[0], all.ids.at(-2))
  assert.ok(!taken.has(latest.ids[1] as number))
})

test('an event whose end is not sampled is stopped, and no event is made beyond the limit', async () => {
  const [{ onsetMs = 0 } = {}] = faultsOf(node.simulation)
  const [sample] = await sampledThen({ fromMs: onsetMs + 58_000, toMs: onsetMs + 58_002 })
  const reached = { comparison_type: 'gt', comparison_value: Number(sample?.[sampleFieldOf(BigInt(TX_PAUSES))]) }
  const { events, marks } = await eventsOf({ eventsMax: 20, rule: reached })
  assert.deepEqual(
    events.map(({ end }) => end),
    ['stopped'],
  )
  assert.deepEqual(
    marks.map(({ source, edge }) => [source, edge]),
    [
      ['simulator_diag', 'opened'],
      ['traceback', 'ended'],
    ],
  )
  const none = await eventsOf({ eventsMax: 0 })
  assert.deepEqual([none.ids, none.names, none.counts], [[], [], { leftOut: 0, faultsLeft: 2 }])
})
