import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { type Batch, type RecordOf, type RecordType, readRecords, viewsOf } from '@sonde/sdk'
import { absenceType, clockType, gapType, periodType } from '@sonde/sdk/internal'
import pino from 'pino'
import * as v from 'valibot'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { valueAt, waveOf } from '../../../../../test/doubles/doca/wave.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { Hosts } from '../../hosting/hosts.ts'
import type { RunningSource } from '../../hosting/running-source.ts'
import { idText } from '../../native/doca/ids.ts'
import { testSource } from '../conformance.ts'
import { TestNode } from '../test-node.ts'
import { COUNTERS } from './counters.ts'
import { docaTelemetryDiag } from './doca-telemetry-diag.ts'
import {
  docaDiagCounterType,
  docaDiagPciType,
  docaDiagPciUseType,
  docaDiagPortType,
  docaDiagSampleType,
  docaDiagSamplingType,
  docaDiagType,
} from './type.ts'

const NEEDS = needs('cc')
const LIMITS = { source_call_ms: 60_000, source_flood_bytes: 16 << 20 }

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: { facts: { max_ids: 128 } } })

testSource(docaTelemetryDiag, {
  ...NEEDS,
  paths: { doca_library: suite?.folder ?? '' },
  options: { counters: [...COUNTERS.map(({ name }) => name), '0x11a0000400000000'] },
  unreported: [docaDiagSampleType],
})

interface Played {
  readonly devices: Readonly<Record<string, DoubleDevice>>
  readonly options?: object
  /** Default: 50. */
  readonly intervalMs?: number
  readonly elapsedNs?: bigint
  /** Files of the node, by path. */
  readonly files?: Readonly<Record<string, string>>
}

/** Runs the source in the child process of its library, with a double. */
function start(t: TestContext, { devices, options = {}, intervalMs = 50, elapsedNs, files = {} }: Played) {
  const double = new DocaDouble(t)
  double.play(devices)
  double.setElapsed(elapsedNs)
  const batches: Batch[] = []
  const config = {
    name: 'diag',
    definition: docaTelemetryDiag,
    intervalMs,
    options: v.parse(docaTelemetryDiag.options, { stuck_ms: 60_000, accept_taint: true, ...options }),
  }
  const node = new TestNode(t)
  for (const [path, text] of Object.entries(files)) node.write(path, text)
  const paths = { ...node.paths, doca_library: double.folder }
  const hosts = new Hosts([config], {
    config: { paths, limits: LIMITS },
    accept: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }),
    log: pino({ level: 'silent' }),
  })
  t.after(() => hosts.stop(2000))
  hosts.start(0)
  return { double, node, hosts, running: hosts.sources[0] as RunningSource, batches }
}

function rowsOf<T extends RecordType>(type: T, batches: readonly Batch[]): RecordOf<T>[] {
  return batches
    .filter((batch) => batch.type.name === type.name)
    .flatMap(({ type: own, bytes, count, symbols }) => [...readRecords(own as T, viewsOf(bytes), count, symbols)])
}

type Sample = Readonly<Record<string, number | bigint | string>>

/** Returns the samples at full rate of the latest time. */
async function samplesOf(running: RunningSource, latestNs: bigint): Promise<readonly Sample[]> {
  const toNs = process.hrtime.bigint()
  const samples: Sample[] = []
  const request = { type: 'doca_diag_sample', device: 'mlx5_0', bytesMax: 64 << 20 }
  const span = { fromMonoNs: String(toNs - latestNs), toMonoNs: String(toNs) }
  await running.window({ ...request, ...span }, ({ type, bytes, count, symbols }) => {
    samples.push(...(readRecords(type, viewsOf(bytes.slice()), count, symbols) as unknown as Iterable<Sample>))
  })
  return samples
}

test('one sample per interval has the exact value, unit and labels of each counter', NEEDS, async (t) => {
  const ID = 0x11a0_0004_0000_0000n
  const counters = ['global_icmc_hit', 'port_rx_bytes', 'pcie_read_stall_ordering', idText(ID)]
  const elapsedNs = 7_000_000_000n
  const { batches, running } = start(t, { devices: { mlx5_0: {} }, options: { counters }, elapsedNs })
  await until('it reports', () => rowsOf(docaDiagCounterType, batches).length > 0)
  const value = (id: bigint) => valueAt(waveOf(id), elapsedNs)
  assert.equal(rowsOf(docaDiagType, batches)[0]?.icmc_hits_total, value(0x1180_0002_0000_0000n))
  const [port] = rowsOf(docaDiagPortType, batches)
  assert.deepEqual([port?.port, port?.rx_bytes_total], [1, value(0x1020_0001_0000_0000n)])
  assert.equal(
    rowsOf(docaDiagPciType, batches)[0]?.read_ordering_stall_seconds_total,
    Number(value(0x1160_000a_0000_0000n)) / 1e9,
  )
  const [counted] = rowsOf(docaDiagCounterType, batches)
  assert.deepEqual([counted?.data_id, counted?.value], [idText(ID), value(ID)])
  assert.equal(batches[0]?.source.labels.simulated, 'true')
  await until('it says that it reads', () => running.state === 'reading')
})

test('at high frequency one row per interval is sent, and a window has every sample at its time', NEEDS, async (t) => {
  const counters = ['port_rx_bytes', 'port_tx_bytes']
  const options = { counters, high_frequency: true, sample_period_us: 100, ring_ms: 5000 }
  const { batches, running, double } = start(t, { devices: { mlx5_0: { facts: { drift_ppb: 20_000 } } }, options })
  await until('thousands of samples', () => Number(rowsOf(docaDiagSamplingType, batches).at(-1)?.samples_total) > 5000)
  const [last] = rowsOf(docaDiagSamplingType, batches).slice(-1)
  assert.deepEqual([last?.skipped_samples_total, last?.period_seconds, last?.counters], [0n, 0.0001, 2])
  assert.ok(rowsOf(docaDiagPortType, batches).length <= rowsOf(docaDiagSamplingType, batches).length)
  assert.ok(
    batches.every(({ type }) => type.name !== 'doca_diag_sample'),
    'samples stay where they are',
  )
  const { wallNs } = double.anchor
  const elapsedOf = ({ device_ticks }: Sample) => BigInt(device_ticks as bigint) - wallNs
  // The clock of the device has run 20 ppm fast since the anchor.
  const offOf = (sample: Sample) =>
    Number(BigInt(sample.time as bigint) - wallNs - (elapsedOf(sample) * 1_000_000n) / 1_000_020n)
  // Times are as exact as the shortest query so far. The first queries of a busy machine can take long.
  const samples = await until('thousands of samples have their exact times', async () => {
    const latest = await samplesOf(running, 300_000_000n)
    return latest.length > 2000 && latest.every((sample) => Math.abs(offOf(sample)) < 5_000_000) && latest
  })
  for (const [index, sample] of samples.entries()) {
    assert.equal(Number(sample.sample), Number(samples[0]?.sample) + index)
    const ticks = BigInt(sample.device_ticks as bigint)
    // The stamp has the seconds of the first value and the nanoseconds of the last, which is taken 10 ns later.
    const latestNs = (ticks + 10n) % 1_000_000_000n
    assert.equal(sample.stamp, ((ticks / 1_000_000_000n) << 32n) | latestNs)
    const value = valueAt(waveOf(0x1020_0001_0000_0000n), elapsedOf(sample))
    assert.equal(BigInt(sample.id_1020000100000000 as bigint), value)
  }
})

test('a device is drained more often while rules watch its samples', NEEDS, async (t) => {
  const options = { counters: ['port_rx_bytes'], high_frequency: true, sample_period_us: 100, ring_ms: 1000 }
  const { batches, running } = start(t, { devices: { mlx5_0: {} }, options, intervalMs: 200 })
  const told = () => rowsOf(periodType, batches).filter(({ device }) => device === 'mlx5_0')
  const drainUs = () => told().at(-1)?.drain_us
  await until('it drains rarely', () => drainUs() === 100_000n)
  const isCounter = true
  const signal = { name: 'rx', type: 'doca_diag_sample', field: 'id_1020000100000000', labels: {}, isCounter }
  const test = { kind: 'gt', value: 2n ** 63n, onSamples: 1, offSamples: 1 } as const
  await running.watch({ signals: [signal], rules: [{ name: 'high', signal: 0, test }] })
  await until('it drains often', () => drainUs() === 50_000n)
  await running.watch({ signals: [], rules: [] })
  await until('it drains rarely again', () => drainUs() === 100_000n)
  await until('it reports', () => rowsOf(docaDiagSamplingType, batches).length > 1)
  assert.equal(rowsOf(docaDiagSamplingType, batches).at(-1)?.skipped_samples_total, 0n)
})

test('a counter that the device does not have, or has no room for, is absent with the reason', NEEDS, async (t) => {
  const waves = [{ ...waveOf(0x1180_0002_0000_0000n), kind: 'unsupported' as const }]
  const facts = { max_ids: 3, resources: 2 }
  const counters = ['global_icmc_request', 'global_icmc_hit', 'global_icmc_miss', 'rx_cqes', 'tx_cqes']
  const { batches } = start(t, { devices: { mlx5_0: { waves, facts } }, options: { counters } })
  await until('it reports', () => rowsOf(docaDiagSamplingType, batches).length > 0)
  const absent = rowsOf(absenceType, batches)
    .filter(({ type }) => type === docaDiagType.name)
    .map(({ field, code, reason }) => [field, code, reason])
  const call = (name: string) => `mlx5_0: doca_telemetry_diag_${name} answers`
  assert.deepEqual(absent.sort(), [
    [
      'icmc_hits_total',
      'unsupported',
      `${call('check_data_id')} NOT_SUPPORTED, the device or its firmware cannot do that`,
    ],
    [
      'rx_cqes_total',
      'failed',
      `${call('set_max_num_data_ids')} FULL, the device has no room for so many counters: list fewer`,
    ],
    [
      'tx_cqes_total',
      'failed',
      `${call('set_max_num_data_ids')} FULL, the device has no room for so many counters: list fewer`,
    ],
  ])
  const [sampling] = rowsOf(docaDiagSamplingType, batches)
  assert.deepEqual([sampling?.counters, sampling?.refused_counters], [2, 3])
  const [row] = rowsOf(docaDiagType, batches)
  assert.ok(row?.icmc_requests_total !== undefined && row.icmc_misses_total !== undefined)
  assert.equal(row.icmc_hits_total, undefined)
})

test('counters that another program holds are taken only with force_ownership', NEEDS, async (t) => {
  const counters = ['global_icmc_request']
  const devices = { mlx5_0: { facts: { owned: 1 } } }
  const held = start(t, { devices, options: { counters } })
  await until('it names the holder', () => held.running.state === 'failed')
  assert.match(held.running.reason, /IN_USE, another program holds the counters/)
  const forced = start(t, { devices, options: { counters, force_ownership: true } })
  await until('it reports', () => rowsOf(docaDiagType, forced.batches).length > 0)
})

/** Two functions of one card. */
const FUNCTIONS = { mlx5_0: { pci: '0000:3a:00.0' }, mlx5_1: { pci: '0000:3a:00.1' } }

test('functions of one card take turns with its counters, and each gets its samples', NEEDS, async (t) => {
  const counters = ['global_icmc_request', 'port_rx_bytes']
  const { batches, running, double } = start(t, { devices: FUNCTIONS, options: { counters } })
  const samplesOf = (name: string) =>
    Number(
      rowsOf(docaDiagSamplingType, batches)
        .filter(({ rdma_device }) => rdma_device === name)
        .at(-1)?.samples_total ?? 0,
    )
  await until('both are sampled again and again', () => samplesOf('mlx5_0') > 3 && samplesOf('mlx5_1') > 3)
  // Between two turns there is none.
  assert.ok(double.total('contexts') <= 1)
  assert.deepEqual([running.state, running.stats.errors], ['reading', 0])
})

test('the lowest function that can sample by itself has the counters, in any order of start', NEEDS, async (t) => {
  const options = { counters: ['port_rx_bytes'], high_frequency: true, stuck_ms: 2000 }
  const slow = { faults: ['cost doca_dev_open 200000 sleep'] }
  const refusing = { facts: { diag: 0 } }
  const hanging = { faults: ['hang doca_dev_open'] }
  /** Plays two functions, and expects that one samples and that the other is absent for a reason. */
  const cases: [lower: DoubleDevice, isLowerFirst: boolean, sampled: string, reason: RegExp][] = [
    [slow, true, 'mlx5_0', /^mlx5_1: .*mlx5_0, another function of the card, is sampled/],
    [slow, false, 'mlx5_0', /^mlx5_1: .*mlx5_0, another function of the card, is sampled/],
    [refusing, true, 'mlx5_1', /^mlx5_0: .*NOT_SUPPORTED/],
    [hanging, true, 'mlx5_1', /^/],
  ]
  for (const [lower, isLowerFirst, sampled, reason] of cases) {
    const functions: [string, DoubleDevice][] = [
      ['mlx5_0', { ...FUNCTIONS.mlx5_0, ...lower }],
      ['mlx5_1', FUNCTIONS.mlx5_1],
    ]
    const devices = Object.fromEntries(isLowerFirst ? functions : functions.toReversed())
    const { batches, running, hosts, double } = start(t, { devices, options })
    await until('one is sampled', () => rowsOf(docaDiagSamplingType, batches).length > 1)
    if (lower !== hanging) {
      const told = () => rowsOf(absenceType, batches).filter(({ code }) => code === 'unsupported')
      await until('the other has its reason', () => told().length > 0)
      for (const absence of told()) assert.match(String(absence.reason), reason)
      assert.deepEqual([running.state, running.stats.errors, double.total('contexts')], ['reading', 0, 1])
    }
    const names = new Set(rowsOf(docaDiagSamplingType, batches).map(({ rdma_device }) => rdma_device))
    assert.deepEqual([...names], [sampled])
    double.play(FUNCTIONS)
    await hosts.stop(2000)
  }
})

test('a device that has none of the counters names the first of them', NEEDS, async (t) => {
  const counters = Array.from({ length: 40 }, (_, at) => idText(0x1180_0001_0000_0000n + BigInt(at)))
  const devices = { mlx5_0: { facts: { listed_only: 1 } } }
  const { running } = start(t, { devices, options: { counters } })
  await until('it says so', () => running.state === 'failed')
  const named = counters.slice(0, 16).join(', ')
  const words = 'check_data_id answers NOT_SUPPORTED, the device or its firmware cannot do that'
  assert.equal(running.reason, `mlx5_0: doca_telemetry_diag_${words}: ${named} and 24 more`)
})

test(
  'a period that the device lengthens is told, and overwritten samples are a gap with their number',
  NEEDS,
  async (t) => {
    const options = { counters: ['global_icmc_request'], high_frequency: true, sample_period_us: 10 }
    const facts = { min_period_ns: 200_000, log_max_samples: 6 }
    const { batches, double, running } = start(t, { devices: { mlx5_0: { facts } }, options })
    await until('it reports', () => rowsOf(docaDiagSamplingType, batches).length > 2)
    assert.equal(rowsOf(docaDiagSamplingType, batches).at(-1)?.period_seconds, 0.0002)
    const [period] = rowsOf(periodType, batches).filter(({ device }) => device === 'mlx5_0')
    // Half of the 64 samples that the device keeps.
    assert.deepEqual([period?.sample_us, period?.drain_us, period?.report_us], [200n, 6400n, 50_000n])
    double.play({ mlx5_0: { facts } }, ['cost doca_telemetry_diag_query_counters 60000 sleep'])
    await until('samples are lost', () => rowsOf(gapType, batches).length > 0)
    double.play({ mlx5_0: { facts } })
    assert.equal(running.state, 'reading')
    const gaps = () => rowsOf(gapType, batches).reduce((sum, { records }) => sum + Number(records), 0)
    await until('the gaps have the number of skipped samples', () => {
      return gaps() === Number(rowsOf(docaDiagSamplingType, batches).at(-1)?.skipped_samples_total)
    })
  },
)

test('the frequency of a free-running counter is computed from its samples', NEEDS, async (t) => {
  const options = { counters: ['global_icmc_request'], high_frequency: true }
  const facts = { timestamp_sources: 1, frc_hz: 156_250_000 }
  const { batches } = start(t, { devices: { mlx5_0: { facts } }, options })
  await until('its clock is told', () => rowsOf(clockType, batches).length > 0)
  const [clock] = rowsOf(clockType, batches)
  assert.equal(clock?.clock, 'frc')
  assert.ok(Math.abs(Number(clock?.ticks_per_second) / 156_250_000 - 1) < 1e-4, `${clock?.ticks_per_second}`)
  await until('rows have its time', () => rowsOf(docaDiagSamplingType, batches).length > 20)
  const off = Math.abs(Number(rowsOf(docaDiagSamplingType, batches).at(-1)?.time) / 1e6 - Date.now())
  assert.ok(off < 60_000, `${off} ms off`)
})

test('the PCIe capacity is that of the kernel, else of the firmware; a change ends the series', NEEDS, async (t) => {
  const folder = 'sys/class/infiniband/mlx5_0/device'
  const files = { [`${folder}/current_link_speed`]: '16.0 GT/s PCIe\n', [`${folder}/current_link_width`]: '8\n' }
  const counters = ['pcie_link_inbound_bytes', 'pcie_link_outbound_bytes']
  const { batches, node } = start(t, { devices: { mlx5_0: {} }, options: { counters }, files })
  const latest = () => rowsOf(docaDiagPciUseType, batches).at(-1)
  await until('it reports', () => latest() !== undefined)
  assert.deepEqual([latest()?.origin, latest()?.link_bandwidth_bytes_per_second], ['pci_files', 15_753_846_153n])
  node.write(`${folder}/current_link_width`, '0\n')
  await until('the firmware serves it', () => latest()?.origin === 'doca_pci')
  assert.equal(latest()?.link_bandwidth_bytes_per_second, 63_015_384_615n)
  const [end] = rowsOf(absenceType, batches).filter(({ type, code }) => type === 'doca_diag_pci_use' && code === 'gone')
  assert.match(String(end?.series), /origin="pci_files"/)
  assert.match(String(end?.reason), /^pci_files no longer has it \(.*\), so doca_pci serves it$/)
})
