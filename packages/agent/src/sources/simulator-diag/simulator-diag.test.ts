import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Batch, type RecordOf, type RecordType, readRecords, SondeError, viewsOf } from '@sonde/sdk'
import { gapType, periodType } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { until } from '../../../../sdk/test/helper.ts'
import { Host } from '../../hosting/host.ts'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { SourceStatus } from '../../hosting/source-status.ts'
import type { Tap } from '../../sampling/tap.ts'
import { testSource } from '../conformance.ts'
import { defaultDataSources } from '../data-sources.ts'
import { COUNTERS, type DiagCounter, placedCounter } from '../doca-telemetry-diag/counters.ts'
import {
  docaDiagPciBytesType,
  docaDiagPciType,
  docaDiagPortType,
  docaDiagPriorityType,
  docaDiagSampleType,
  docaDiagSamplingType,
  docaDiagType,
  sampleFieldOf,
} from '../doca-telemetry-diag/type.ts'
import type { NodeState } from '../simulator/node-state.ts'
import { simulator } from '../simulator/simulator.ts'
import { TestReport } from '../simulator/test-report.ts'
import { secondsOf } from '../simulator/time.ts'
import { simulatedIds } from './columns.ts'
import type { SimulatorDiagOptions } from './config.ts'
import { simulatorDiag } from './simulator-diag.ts'
import { SimulatorDiag } from './source.ts'

/** Start of the tests, about 311 days after the epoch of the simulation. */
const START_NS = 1_794_114_000_123_456_789n
const MS = 1_000_000n
const PATHS = { procfs: '', sysfs: '' }

testSource(simulatorDiag, { options: { devices: ['mlx5_0'] }, unreported: [docaDiagSampleType, docaDiagSamplingType] })

type Sample = Readonly<Record<string, number | bigint | string>>

interface Rig {
  readonly source: SimulatorDiag
  /** Advances the time and creates the samples. */
  readonly pass: (ms: number, wallMs?: number) => Promise<void>
  readonly samples: (device?: string) => Sample[]
  readonly report: () => Promise<void>
  readonly rowsOf: <T extends RecordType>(type: T) => RecordOf<T>[]
  readonly nowMs: () => number
}

/** The source, with clocks that a test controls. */
function rigOf(t: TestContext, given: object = {}): Rig {
  const options = v.parse(simulatorDiag.options, { devices: ['mlx5_0'], ...given }) as SimulatorDiagOptions
  const batches: Batch[] = []
  let [wallNs, monoNs] = [START_NS, 5_000_000_000n]
  // A test may use two of them at the same time.
  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['Date'], now: Number(START_NS / MS) })
  const outlet = new SourceOutlet({
    ...{ name: 'samples', intervalMs: 1000, paths: PATHS, labels: simulatorDiag.labels ?? {} },
    startedMs: Number(START_NS / MS),
    emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }),
    stats: { failed: { add: (place, error) => assert.fail(`${place}: ${error}`) }, dropped: new Map() },
  })
  const source = new SimulatorDiag(options, outlet.context, {
    clocks: { wallNs: () => wallNs, monoNs: () => monoNs },
  })
  const run = async (name: string) => {
    await source
      .duties()
      .find((duty) => duty.name === name)
      ?.run()
    outlet.flush()
  }
  return {
    source,
    report: () => run('report'),
    async pass(ms, wallMs = ms) {
      monoNs += BigInt(Math.round(ms * 1e6))
      wallNs += BigInt(Math.round(wallMs * 1e6))
      t.mock.timers.setTime(Number(wallNs / MS))
      await run('drain')
    },
    samples(device = 'mlx5_0') {
      const tap = outlet.tap('doca_diag_sample', device) as Tap
      const { type, bytes, count } = tap.cut(0n, 1n << 62n, 256 << 20)
      return [...readRecords(type, viewsOf(bytes), count, outlet.source.symbols)] as unknown as Sample[]
    },
    rowsOf: (type) =>
      batches
        .filter((batch) => batch.type === type)
        .flatMap((batch) => [...readRecords(type, viewsOf(batch.bytes), batch.count, batch.symbols)]),
    nowMs: () => Number(wallNs / MS),
  }
}

const TIMES = new Set(simulatedIds([]).flatMap((id) => (placedCounter(id).counter?.isNs ? [sampleFieldOf(id)] : [])))

/** Values that the simulator reports at the time of a sample, by the field of the sample. */
function reported(report: TestReport, sample: Sample, ids: readonly bigint[]): Map<string, bigint> {
  const records = report.at(secondsOf(BigInt(sample.device_ticks as bigint)))
  const keys = new Map<RecordType, (device: string) => string>([
    [docaDiagType, (device) => device],
    [docaDiagPortType, (device) => `${device}/1`],
    [docaDiagPriorityType, (device) => `${device}/1/3`],
    [docaDiagPciBytesType, (device) => device],
    [docaDiagPciType, (device) => device],
  ])
  return new Map(
    ids.flatMap((id): [string, bigint][] => {
      const { counter, labels } = placedCounter(id)
      const { type, field, isNs } = counter as DiagCounter
      if (labels.priority !== undefined && labels.priority !== 3) return []
      const value = records(type).get(keys.get(type)?.(String(sample.rdma_device)) ?? '')?.[field] as number | bigint
      return [[sampleFieldOf(id), isNs ? BigInt(Math.floor(Number(value) * 1e9 + 1e-4)) : BigInt(value)]]
    }),
  )
}

for (const workload of ['training', 'inference'] as const)
  test(`a sample has exactly what the simulator reports at its time: ${workload}`, async (t) => {
    const rig = rigOf(t, { seed: 7, workload, devices: ['mlx5_0', 'mlx5_5', 'mlx5_bond_0'], ring_ms: 7000 })
    for (let second = 0; second < 6; second++) await rig.pass(1000)
    const ids = simulatedIds([])
    const report = new TestReport({ seed: 7, workload })
    for (const device of ['mlx5_0', 'mlx5_5', 'mlx5_bond_0']) {
      const samples = rig.samples(device)
      for (let at = 0; at < samples.length; at += 2503) {
        const sample = samples[at] as Sample
        for (const [field, value] of reported(report, sample, ids)) {
          // Beyond 2^53 nanoseconds are only as precise as a double.
          const allowed = !TIMES.has(field) ? 0n : value > 1n << 53n ? 4096n : 1n
          const off = BigInt(sample[field] as bigint) - value
          assert.ok(off * off <= allowed * allowed, `${device} ${field} of ${sample.sample} is ${off} off`)
        }
      }
    }
  })

test('samples are consecutive, at their times, and their counters never fall', async (t) => {
  const rig = rigOf(t, { counters: ['port_rx_bytes', 'port_tx_bytes', 'global_icmc_hit', 'global_icmc_request'] })
  for (let drain = 0; drain < 200; drain++) await rig.pass(drain % 7 === 0 ? 83.21 : 50)
  const samples = rig.samples()
  assert.equal(samples.length, 10_000)
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1]
    if (before === undefined) continue
    assert.equal(sample.sample, Number(before.sample) + 1)
    const ticks = BigInt(sample.device_ticks as bigint)
    assert.equal(ticks - BigInt(before.device_ticks as bigint), 100_000n)
    assert.equal(BigInt(sample.time as bigint) - BigInt(before.time as bigint), 100_000n)
    assert.equal(BigInt(sample.stamp as bigint), ((ticks / 1_000_000_000n) << 32n) | (ticks % 1_000_000_000n))
    for (const [field, value] of Object.entries(sample))
      if (field.startsWith('id_')) assert.ok(BigInt(value) >= BigInt(before[field] as bigint), `${field} of ${index}`)
  }
  const last = samples.at(-1) as Sample
  assert.ok(BigInt(rig.nowMs()) * MS - BigInt(last.device_ticks as bigint) < 2n * MS)
})

test('a late drain makes what the ring holds, and counts the rest as a gap', async (t) => {
  const rig = rigOf(t, { counters: ['port_rx_bytes'], ring_ms: 500 })
  await rig.pass(50)
  await rig.pass(400)
  await rig.report()
  assert.equal(rig.rowsOf(docaDiagSamplingType).at(-1)?.skipped_samples_total, 0n)
  await rig.pass(3000)
  await rig.report()
  const [row] = rig.rowsOf(docaDiagSamplingType).slice(-1)
  assert.deepEqual([row?.samples_total, row?.skipped_samples_total], [1n + 4000n + 5000n, 25_000n])
  const gaps = rig.rowsOf(gapType)
  assert.deepEqual(
    gaps.map(({ type, series, records }) => [type, series, records]),
    [['doca_diag_sample', 'simulated="true",rdma_device="mlx5_0"', 25_000n]],
  )
  assert.equal(rig.samples().length, 5000)
})

test('a wall clock that is set ahead leaves a gap, and one that is set back none; no time goes back', async (t) => {
  const rig = rigOf(t, { counters: ['port_rx_bytes'], ring_ms: 60_000 })
  await rig.pass(50)
  await rig.pass(50, 3050)
  await rig.pass(50, -5000)
  await rig.pass(50)
  await rig.report()
  const [row] = rig.rowsOf(docaDiagSamplingType).slice(-1)
  assert.deepEqual([row?.samples_total, row?.skipped_samples_total], [1n + 500n + 500n + 500n, 30_000n])
  const samples = rig.samples()
  for (const [index, { time }] of samples.entries()) {
    const stepNs = BigInt(time as bigint) - BigInt((samples[index - 1]?.time ?? time) as bigint)
    assert.ok(stepNs >= 0n && stepNs <= 100_000n, `${stepNs} ns`)
  }
})

test('a scenario of the configuration begins with the agent, and shows as in the simulator', async (t) => {
  const scenarios = ['link-flap@sim-nic-mlx5_0-1:4:0.3']
  const rig = rigOf(t, { scenarios, counters: ['port_rx_bytes', 'port_tx_packets'], ring_ms: 5000 })
  const outlet = new SourceOutlet({
    ...{ name: 'simulator', intervalMs: 1000, paths: PATHS, startedMs: Number(START_NS / MS), emit: () => undefined },
    stats: { failed: { add: () => undefined }, dropped: new Map() },
  })
  const { create } = await simulator.load()
  const node = create(v.parse(simulator.options, { scenarios }) as object, outlet.context)
  const { effects } = (node.command?.({ kind: 'state' }) ?? {}) as NodeState
  const report = new TestReport({ effects })
  for (let drain = 0; drain < 40; drain++) await rig.pass(50)
  const samples = rig.samples()
  const ids = simulatedIds(['port_rx_bytes', 'port_tx_packets'])
  for (let at = 0; at < samples.length; at += 199)
    for (const [field, value] of reported(report, samples[at] as Sample, ids))
      assert.equal(BigInt((samples[at] as Sample)[field] as bigint), value)
  const late = samples.slice(-1000).map(({ id_1020000100000000: bytes }) => bytes)
  assert.ok(new Set(late).size < 10, 'a link that is down receives nothing')
})

test('who follows another node has its counters from then on, and never fewer than before', async (t) => {
  const rig = rigOf(t, { counters: ['port_tx_bytes'], ring_ms: 20_000 })
  const leader = rigOf(t, { counters: ['port_tx_bytes'], ring_ms: 20_000 })
  for (let drain = 0; drain < 20; drain++) await Promise.all([rig.pass(50), leader.pass(50)])
  leader.source.command({ kind: 'start', request: { name: 'link-flap', device: 'sim-nic-mlx5_0-1', durationS: 2 } })
  // The source learns of it late.
  await rig.pass(200)
  const state = JSON.parse(JSON.stringify(leader.source.command({ kind: 'state' })))
  rig.source.command({ kind: 'follow', state })
  await leader.pass(200)
  for (let drain = 0; drain < 300; drain++) await Promise.all([rig.pass(50), leader.pass(50)])
  const [own, others] = [rig.samples(), leader.samples()]
  assert.equal(own.length, others.length)
  for (const [index, { id_1140000100000000: bytes }] of own.entries()) {
    assert.ok(BigInt(bytes as bigint) >= BigInt((own[index - 1]?.id_1140000100000000 ?? 0n) as bigint))
    if (index > own.length - 5000) assert.equal(bytes, others[index]?.id_1140000100000000)
  }
})

test('counters that no simulated NIC has are refused with what is allowed', async () => {
  const options = v.parse(simulatorDiag.options, { counters: ['0x11a0000400000000'] }) as object
  await assert.rejects(
    async () => simulatorDiag.refuse?.(options),
    (error) => error instanceof SondeError && error.code === 'SIM_COUNTER' && /; allowed: /.test(error.message),
  )
  assert.ok(COUNTERS.every(({ name }) => simulatedIds([name]).length > 0))
  assert.equal(simulatedIds([]).length, 78)
  assert.ok(!defaultDataSources().some(({ type }) => type === simulatorDiag.name))
})

test('a host in this process samples it, and hands out a window', async (t) => {
  const host = new Host()
  t.after(() => host.stop(500))
  const status = new SourceStatus()
  const batches: Batch[] = []
  const options = v.parse(simulatorDiag.options, { devices: ['mlx5_3'], drain_ms: 5 }) as object
  const config = {
    ...{ module: '', name: 'samples', type: 'simulator_diag', options, intervalMs: 20, callLimitMs: 60_000 },
    ...{ floodBytes: 1 << 20, paths: PATHS },
  }
  const accept = (batch: Batch) => batches.push({ ...batch, bytes: batch.bytes.slice() })
  host.start({ config, definition: simulatorDiag, status, accept }, 0)
  const rows = () => batches.filter(({ type }) => type === docaDiagSamplingType)
  await until('it reports', () => rows().length > 2)
  const [period] = batches
    .filter(({ type }) => type === periodType)
    .flatMap((batch) => [...readRecords(periodType, viewsOf(batch.bytes), batch.count, batch.symbols)])
    .filter(({ device }) => device === 'mlx5_3')
  assert.deepEqual([period?.sample_us, period?.drain_us, period?.report_us], [100n, 5000n, 20_000n])
  assert.equal(rows()[0]?.source.labels.simulated, 'true')
  const toNs = process.hrtime.bigint()
  const request = { type: 'doca_diag_sample', device: 'mlx5_3', bytesMax: 1 << 20 }
  let count = 0
  await host.window('samples', { ...request, fromMonoNs: '0', toMonoNs: String(toNs) }, (piece) => {
    count += piece.count
  })
  assert.ok(count > 0)
})
