import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import koffi from 'koffi'
import { needs } from '../../debian.ts'
import { Calls } from './calls.ts'
import { DocaDouble, type DoubleDevice } from './doca-double.ts'
import { valueAt, type Wave, waveOf } from './wave.ts'

const NEEDS = needs('cc')
const DIAG = 'doca_telemetry_diag_'
const PERIOD_NS = 100_000n
const LOG = 4
const CAPACITY = 2 ** LOG
const HEADER_BYTES = 16
const IDS = [0x1160_0001_0000_0000n, 0x1160_000d_0000_0000n, 0x1180_0002_0000_0003n]
const MODES = { single: 0, repetitive: 1, onDemand: 2 }

interface Settings {
  readonly format?: number
  readonly periodNs?: bigint
  readonly log?: number
  readonly maxIds?: number
  readonly sync?: number
  readonly mode?: number
  readonly clear?: number
  readonly timestamps?: number
}

/** One device at time 0 of a clock that stands still, and a context of it that is not configured. */
function bringUp(t: TestContext, device: DoubleDevice = {}) {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: device })
  double.setElapsed(0n)
  const calls = new Calls(double)
  const { dev, info } = calls.open()
  const diag = calls.number(`${DIAG}create`, 'p uint8_t', dev, 0)
  return { double, calls, dev, info, diag }
}

function set(calls: Calls, diag: bigint, settings: Settings = {}): void {
  const { format = 1, periodNs = PERIOD_NS, log = LOG, maxIds = 8, sync = 0, mode = MODES.repetitive } = settings
  calls.good(`${DIAG}set_output_format`, 'p int', diag, format)
  calls.good(`${DIAG}set_sample_period`, 'p uint64_t', diag, periodNs)
  calls.good(`${DIAG}set_log_max_num_samples`, 'p uint8_t', diag, log)
  calls.good(`${DIAG}set_max_num_data_ids`, 'p uint32_t', diag, maxIds)
  calls.good(`${DIAG}set_sync_mode`, 'p int', diag, sync)
  calls.good(`${DIAG}set_sample_mode`, 'p int', diag, mode)
  calls.good(`${DIAG}set_data_clear`, 'p uint8_t', diag, settings.clear ?? 0)
  calls.good(`${DIAG}set_data_timestamp_source`, 'p int', diag, settings.timestamps ?? 1)
}

/** The error, and the ID that it is about. */
function apply(calls: Calls, diag: bigint, ids: readonly bigint[]): readonly [string, bigint] {
  const failed = new BigUint64Array([1n])
  const list = BigUint64Array.from(ids)
  const error = calls.call(`${DIAG}apply_counters_list_by_id`, 'p p uint32_t p', diag, list, ids.length, failed)
  return [error, failed[0]!]
}

function start(calls: Calls, diag: bigint, settings: Settings = {}, ids: readonly bigint[] = IDS): void {
  set(calls, diag, settings)
  calls.good(`${DIAG}apply_config`, 'p', diag)
  assert.deepEqual(apply(calls, diag, ids), ['SUCCESS', 0n])
  calls.good(`${DIAG}start`, 'p', diag)
}

/** Samples of one call, each cut to its size, and how the call ended. */
function query(calls: Calls, diag: bigint, max = 1024): { error: string; samples: DataView[] } {
  const bytes = Number(calls.number(`${DIAG}get_sample_size`, 'p', diag))
  const memory = new Uint8Array(bytes * max + 64)
  const count = new BigUint64Array(1)
  const error = calls.call(`${DIAG}query_counters`, 'p p uint32_t p', diag, memory, max, count)
  const views = Array.from({ length: Number(count[0]) }, (_, at) => new DataView(memory.buffer, at * bytes, bytes))
  return { error, samples: views }
}

const idOf = (sample: DataView) => sample.getUint32(0, true)
/** Of formats 1 and 2: when the first value was taken, in nanoseconds of the device's wall clock. */
const wallNsOf = (sample: DataView) =>
  BigInt(sample.getUint32(4, true)) * 1_000_000_000n + BigInt(sample.getUint32(8, true))
const valuesOf = (sample: DataView, count = IDS.length) =>
  Array.from({ length: count }, (_, at) => sample.getBigUint64(HEADER_BYTES + 8 * at, true))
const stateOf = (double: DocaDouble) =>
  Object.fromEntries(['produced', 'delivered', 'lost', 'unread'].map((name) => [name, double.total(`mlx5_0 ${name}`)]))

test('samples by its clock, and every value can be computed', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t)
  start(calls, diag)
  assert.deepEqual(query(calls, diag), { error: 'SUCCESS', samples: [] })
  double.setElapsed(12n * PERIOD_NS + 1n)
  const { samples } = query(calls, diag)
  assert.deepEqual(samples.map(idOf), [...Array(12).keys()])
  for (const [at, sample] of samples.entries()) {
    const elapsedNs = wallNsOf(sample) - double.anchor.wallNs
    assert.equal(elapsedNs, BigInt(at + 1) * PERIOD_NS)
    assert.deepEqual(
      valuesOf(sample),
      IDS.map((id) => valueAt(waveOf(id), elapsedNs)),
    )
  }
})

test('overwrites the oldest samples, says so once, and counts them', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t)
  start(calls, diag)
  double.setElapsed(20n * PERIOD_NS)
  const skipped = query(calls, diag, 10)
  assert.equal(skipped.error, 'SKIPPED')
  assert.deepEqual(skipped.samples.map(idOf), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  assert.deepEqual(stateOf(double), { produced: 20, delivered: 10, lost: 4, unread: 6 })
  const rest = query(calls, diag)
  assert.equal(rest.error, 'SUCCESS')
  assert.deepEqual(rest.samples.map(idOf), [14, 15, 16, 17, 18, 19])
  double.setElapsed(21n * PERIOD_NS)
  calls.good(`${DIAG}stop`, 'p', diag)
  assert.deepEqual(stateOf(double), { produced: 21, delivered: 16, lost: 4, unread: 1 })
})

test('writes the three formats, at the stride that the device wants', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t, {
    facts: { stride: 8, first_sample_id: 2n ** 32n - 1n, frc_hz: 10n ** 12n },
  })
  const elapsedNs = 4n * PERIOD_NS
  const expected = IDS.map((id) => valueAt(waveOf(id), elapsedNs))
  const read = (format: number, bytes: bigint): DataView => {
    double.setElapsed(0n)
    start(calls, diag, { format, periodNs: elapsedNs, timestamps: 0 })
    assert.equal(calls.number(`${DIAG}get_sample_size`, 'p', diag), bytes)
    double.setElapsed(2n * elapsedNs)
    const [first, second] = query(calls, diag).samples
    calls.good(`${DIAG}stop`, 'p', diag)
    assert.deepEqual([idOf(first!), idOf(second!)], [0xffff_ffff, 0])
    return first!
  }
  const zero = read(0, 8n + 24n * 3n + 8n)
  for (const [at, id] of IDS.entries()) {
    const value = 8 + 24 * at
    assert.equal(zero.getBigUint64(value, true), id)
    const ticks = BigInt(zero.getUint32(value + 8, true)) * 2n ** 32n + BigInt(zero.getUint32(value + 12, true))
    assert.equal(ticks, (elapsedNs + 10n * BigInt(at)) * 1000n)
    assert.equal(zero.getBigUint64(value + 16, true), expected[at])
  }
  const one = read(1, 16n + 8n * 3n + 8n)
  assert.deepEqual(valuesOf(one), expected)
  assert.equal(one.getUint32(12, true), Number((elapsedNs + 20n) * 1000n))
  const two = read(2, 16n + 4n * 3n + 8n)
  const words = expected.map((_, at) => BigInt(two.getUint32(HEADER_BYTES + 4 * at, true)))
  assert.deepEqual(
    words,
    expected.map((value) => BigInt.asUintN(32, value)),
  )
})

test('counters wrap, gauges jump in bursts, and clearing leaves what a period adds', NEEDS, (t) => {
  const waves: Wave[] = [
    { id: 1n, start: 2n ** 64n - 250n, step: 1n, extra: 0n, kind: 'counter' },
    { id: 2n, start: 7n, step: 9n, extra: 5n, kind: 'gauge' },
    { id: 3n, start: 0n, step: 2n, extra: 10n, kind: 'counter' },
  ]
  const facts = { burst_every_us: 300, burst_us: 100 }
  const { double, calls, diag } = bringUp(t, { waves, facts })
  const ids = waves.map(({ id }) => id)
  start(calls, diag, {}, ids)
  double.setElapsed(3n * PERIOD_NS)
  assert.deepEqual(
    query(calls, diag).samples.map((sample) => valuesOf(sample)),
    [
      [2n ** 64n - 150n, 7n, 200n],
      [2n ** 64n - 50n, 12n, 400n],
      [50n, 7n, 1600n],
    ],
  )
  calls.good(`${DIAG}stop`, 'p', diag)
  start(calls, diag, { clear: 1 }, ids)
  double.setElapsed(6n * PERIOD_NS)
  const cleared = query(calls, diag).samples.map((sample) => valuesOf(sample)[2])
  assert.deepEqual(cleared, [200n, 200n, 1200n])
})

test('a single buffer stops when it is full, and starts again when asked', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t)
  start(calls, diag, { mode: MODES.single })
  double.setElapsed(5n * PERIOD_NS)
  assert.equal(calls.call(`${DIAG}restart`, 'p', diag), 'AGAIN')
  double.setElapsed(100n * PERIOD_NS)
  assert.equal(query(calls, diag).samples.length, CAPACITY)
  assert.equal(query(calls, diag).samples.length, 0)
  calls.good(`${DIAG}restart`, 'p', diag)
  double.setElapsed(103n * PERIOD_NS)
  assert.deepEqual(query(calls, diag).samples.map(idOf), [16, 17, 18])
})

test('on demand each call takes one sample', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t)
  set(calls, diag, { mode: MODES.onDemand })
  assert.equal(calls.call(`${DIAG}apply_config`, 'p', diag), 'INVALID_VALUE')
  start(calls, diag, { mode: MODES.onDemand, periodNs: 0n, log: 0 })
  double.setElapsed(1234n)
  const samples = [query(calls, diag).samples, query(calls, diag).samples].flat()
  assert.deepEqual(samples.map(idOf), [0, 1])
  assert.equal(wallNsOf(samples[0]!) - double.anchor.wallNs, 1234n)
  assert.equal(calls.call(`${DIAG}reconfig_sample_period`, 'p uint64_t', diag, 1n), 'BAD_STATE')
})

test('a period is as long as the device can, and may change while it samples', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t, { facts: { min_period_ns: 200_000 } })
  start(calls, diag)
  const period = () => calls.number(`${DIAG}get_sample_period`, 'p', diag)
  assert.equal(period(), 200_000n)
  double.setElapsed(500_000n)
  calls.good(`${DIAG}reconfig_sample_period`, 'p uint64_t', diag, 300_000n)
  assert.equal(period(), 300_000n)
  double.setElapsed(1_100_000n)
  const times = query(calls, diag).samples.map((sample) => wallNsOf(sample) - double.anchor.wallNs)
  assert.deepEqual(times, [200_000n, 400_000n, 800_000n, 1_100_000n])
})

test('the clock of the device drifts and is ahead', NEEDS, (t) => {
  const { double, calls, diag } = bringUp(t, { facts: { drift_ppb: 1_000_000, offset_ns: 5000 } })
  start(calls, diag)
  double.setElapsed(10_000_000n)
  const { samples } = query(calls, diag)
  // By its own clock it is 10 010 000 ns, so that one sample more than 99 was taken.
  assert.equal(double.total('mlx5_0 produced'), 100)
  assert.equal(wallNsOf(samples.at(-1)!) - double.anchor.wallNs, 10_000_000n + 5000n)
})

test('data IDs are refused with the reason and the first of them', NEEDS, (t) => {
  const unsupported: Wave = { id: 9n, start: 0n, step: 1n, extra: 0n, kind: 'unsupported' }
  const anyId = { any_id: 1 }
  const { double, calls, diag } = bringUp(t, { waves: [unsupported], facts: anyId })
  set(calls, diag, { sync: 1, maxIds: 3 })
  calls.good(`${DIAG}apply_config`, 'p', diag)
  const unsynced = 0x1020_0001_0000_0000n
  const check = (id: bigint) => calls.call(`${DIAG}check_data_id`, 'p uint64_t', diag, id)
  assert.deepEqual([check(9n), check(unsynced), check(5n)], ['NOT_SUPPORTED', 'BAD_CONFIG', 'SUCCESS'])
  assert.deepEqual(apply(calls, diag, [5n, 9n]), ['NOT_SUPPORTED', 9n])
  assert.deepEqual(apply(calls, diag, [5n, unsynced, 9n]), ['BAD_CONFIG', unsynced])
  assert.deepEqual(apply(calls, diag, [1n, 2n, 3n, 4n]), ['FULL', 4n])
  double.play({ mlx5_0: { facts: { ...anyId, resources: 2 } } })
  assert.deepEqual(apply(calls, diag, [1n, 2n, 3n]), ['NO_MEMORY', 3n])
  double.play({ mlx5_0: { waves: [unsupported], facts: { listed_only: 1 } } })
  assert.equal(check(5n), 'NOT_SUPPORTED')
  double.play({ mlx5_0: { facts: anyId } })
  assert.deepEqual(apply(calls, diag, [1n, 2n]), ['SUCCESS', 0n])
  assert.equal(calls.number(`${DIAG}get_num_applied_counters`, 'p', diag), 2n)
  const list = new BigUint64Array(2)
  calls.good(`${DIAG}get_applied_counters_list_by_id`, 'p uint32_t p', diag, 2, list)
  assert.deepEqual([...list], [1n, 2n])
  assert.equal(check(1n), 'BAD_STATE', 'they are applied')
})

test('without a line, a data ID is supported if a BlueField-3 supports it', NEEDS, (t) => {
  const { calls, diag } = bringUp(t)
  set(calls, diag)
  calls.good(`${DIAG}apply_config`, 'p', diag)
  const check = (id: bigint) => calls.call(`${DIAG}check_data_id`, 'p uint64_t', diag, id << 32n)
  const answers = (...ids: readonly bigint[]) => [...new Set(ids.map(check))]
  assert.deepEqual(answers(0x1020_0001n, 0x1080_0005n, 0x1160_000en, 0x1180_0003n, 0x11a0_0004n), ['SUCCESS'])
  assert.deepEqual(answers(0x1080_0002n, 0x1080_0003n, 0x10c0_0003n, 0x1020_0007n, 5n), ['NOT_SUPPORTED'])
})

for (const [how, options, leastUs] of [
  ['of a device that samples itself takes 64 µs', {}, 64],
  ['for a sample on request takes 2 ms', { mode: MODES.onDemand, periodNs: 0n, log: 0 }, 2000],
] as const)
  test(`a query ${how}, unless a line sets its cost`, NEEDS, (t) => {
    const { double, calls, diag } = bringUp(t)
    start(calls, diag, options)
    const tookUs = () => {
      const startedNs = process.hrtime.bigint()
      for (let round = 0; round < 10; round++) query(calls, diag, 1)
      return Number(process.hrtime.bigint() - startedNs) / 10_000
    }
    assert.ok(tookUs() >= leastUs)
    double.play({ mlx5_0: { faults: [`cost ${DIAG}query_counters 5000 sleep`] } })
    assert.ok(tookUs() >= 5000)
  })

test('refuses each step out of order', NEEDS, (t) => {
  const { double, calls, dev, diag } = bringUp(t)
  const step = (name: string) => calls.call(`${DIAG}${name}`, 'p', diag)
  assert.equal(step('apply_config'), 'INVALID_VALUE', 'nothing is set')
  assert.deepEqual([step('start'), step('stop'), step('restart')], ['BAD_STATE', 'BAD_STATE', 'BAD_STATE'])
  assert.deepEqual(apply(calls, diag, IDS), ['BAD_STATE', 0n])
  const applied = calls.call(`${DIAG}get_applied_counters_list_by_id`, 'p uint32_t p', diag, 2, new BigUint64Array(2))
  assert.equal(applied, 'BAD_STATE', 'no configuration was applied')
  set(calls, diag)
  assert.equal(calls.number(`${DIAG}get_sample_size`, 'p', diag), 0n)
  calls.good(`${DIAG}apply_config`, 'p', diag)
  assert.deepEqual([step('apply_config'), step('start'), step('destroy')], ['BAD_STATE', 'BAD_STATE', 'BAD_STATE'])
  assert.equal(calls.call(`${DIAG}set_data_clear`, 'p uint8_t', diag, 0), 'BAD_STATE')
  assert.equal(query(calls, diag, 1).error, 'BAD_STATE')
  apply(calls, diag, IDS)
  calls.good(`${DIAG}start`, 'p', diag)
  assert.deepEqual([step('start'), step('destroy'), step('restart')], ['BAD_STATE', 'BAD_STATE', 'NOT_SUPPORTED'])
  assert.deepEqual(apply(calls, diag, IDS)[0], 'BAD_STATE')
  calls.good(`${DIAG}stop`, 'p', diag)
  assert.equal(calls.call('doca_dev_close', 'p', dev), 'IN_USE')
  calls.good(`${DIAG}destroy`, 'p', diag)
  assert.equal(double.total('contexts'), 0)
})

test('counters have one owner, unless it is forced', NEEDS, (t) => {
  const { double, calls, dev, diag } = bringUp(t)
  const create = (force: number) => calls.call(`${DIAG}create`, 'p uint8_t p', dev, force, new BigUint64Array(1))
  assert.equal(create(0), 'IN_USE')
  calls.good(`${DIAG}destroy`, 'p', diag)
  double.play({ mlx5_0: { facts: { owned: 1 } } })
  assert.deepEqual([create(0), create(1)], ['IN_USE', 'SUCCESS'])
  double.play({ mlx5_0: { facts: { owned: 2 } } })
  assert.equal(create(1), 'IN_USE')
})

test('the functions of a card share one set of counters, and each card has its own', NEEDS, (t) => {
  const double = new DocaDouble(t)
  const [first, second] = ['0000:3a:00.0', '0000:3a:00.1'].map((pci) => ({ pci })) as [DoubleDevice, DoubleDevice]
  double.play({ mlx5_0: first, mlx5_1: second, mlx5_2: { pci: '0000:3b:00.0' } })
  const calls = new Calls(double)
  const devices = [0, 1, 2].map((at) => calls.open(at).dev)
  const create = (at: number, force = 0) =>
    calls.call(`${DIAG}create`, 'p uint8_t p', devices[at] as bigint, force, new BigUint64Array(1))
  const diag = calls.number(`${DIAG}create`, 'p uint8_t', devices[0] as bigint, 0)
  assert.deepEqual([create(1), create(2), create(1, 1)], ['IN_USE', 'SUCCESS', 'SUCCESS'])
  calls.good(`${DIAG}destroy`, 'p', diag)
  assert.equal(create(0), 'IN_USE', 'who took them by force has them')
  double.play({ mlx5_0: first })
  assert.equal(create(0), 'SUCCESS', 'that one left')
})

test('a device that is gone answers with errors, and its context can still be ended', NEEDS, (t) => {
  const { double, calls, dev, diag } = bringUp(t)
  start(calls, diag)
  double.play({})
  assert.equal(
    calls.call(`${DIAG}query_counters`, 'p p uint32_t p', diag, new Uint8Array(64), 1, new BigUint64Array(1)),
    'OPERATING_SYSTEM',
  )
  double.play({ mlx5_0: {} })
  assert.equal(calls.call(`${DIAG}stop`, 'p', diag), 'DRIVER')
  const again = calls.number(`${DIAG}create`, 'p uint8_t', calls.open().dev, 0)
  assert.notEqual(again, diag)
  calls.good(`${DIAG}destroy`, 'p', diag)
  calls.good('doca_dev_close', 'p', dev)
})

test('lays structures out as the headers do', NEEDS, (t) => {
  const { double } = bringUp(t)
  const layout = koffi.load(double.telemetry).func('const char *sonde_doca_layout()')() as string
  const expected = readFileSync(join(import.meta.dirname, 'fixtures/layout.json'), 'utf8')
  assert.deepEqual(JSON.parse(layout), JSON.parse(expected))
})
