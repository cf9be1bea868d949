import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { Float } from '../../../../../test/doubles/doca/structure.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { docaTelemetryPhy } from './doca-telemetry-phy.ts'
import { docaDiagLinkType, docaPhyLaneType, docaPhyType } from './type.ts'

const NEEDS = needs('cc')
const PORTS = 'sys/class/infiniband/mlx5_0/ports'

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: {} })

testSource(docaTelemetryPhy, { ...NEEDS, paths: { doca_library: suite?.folder ?? '' } })

/** Reads a device of a double whose clock stands still at its start. */
function bringUp(t: TestContext, device: DoubleDevice = {}, without: readonly string[] = []) {
  const double = new DocaDouble(t, { without })
  double.play({ mlx5_0: device })
  double.setElapsed(0n)
  const node = new TestNode(t)
  const tested = new TestedSource(docaTelemetryPhy, { ...node.paths, doca_library: double.folder })
  t.after(() => tested.source.close())
  const port = async () => (await tested.sampleOf(docaPhyType))[0] ?? assert.fail('no record')
  const reasonOf = (field: string) => tested.absent.get(`doca_phy{rdma_device="mlx5_0"}.${field}`)
  return { double, node, tested, port, reasonOf }
}

test('a healthy Ethernet port has its link, its ratios and its module', NEEDS, async (t) => {
  const { port, reasonOf } = bringUp(t)
  const { time: _, ...record } = await port()
  assert.deepEqual(record, {
    rdma_device: 'mlx5_0',
    vendor: 'NVIDIA',
    part_number: 'MMS4X00-NS400',
    serial: 'MT2351FT17300',
    fec: 'standard RS 544/514',
    link_up: 1,
    speed_bytes_per_second: 50_000_000_000n,
    lanes: 4,
    link_down_total: 1n,
    link_recovery_total: 0n,
    effective_errors_total: 0n,
    raw_bit_error_ratio: 3e-9,
    effective_bit_error_ratio: 15e-255,
    temperature_celsius: 55,
    temperature_high_celsius: 75,
    supply_volts: 3.3,
    round_trip_seconds: 256e-9,
  })
  assert.equal(reasonOf('symbol_errors_total'), 'unsupported')
})

test('an InfiniBand port multiplies the speed of a lane, and counts symbol errors', NEEDS, async (t) => {
  const { port } = bringUp(t, {
    structures: {
      phy_operation_info: { active_protocol: 1, link_speed_active: 0x80, state: 5 },
      phy_counter_and_ber_info: {
        active_protocol: 1,
        'symbol_errors.symbol_errors_counter': 2n ** 63n,
        'symbol_errors.symbol_ber.ber_coef': 4,
        'symbol_errors.symbol_ber.ber_magnitude': 15,
      },
    },
  })
  const { speed_bytes_per_second, symbol_errors_total, symbol_error_ratio, link_up } = await port()
  assert.deepEqual(
    [link_up, speed_bytes_per_second, symbol_errors_total, symbol_error_ratio],
    [1, 50_000_000_000n, 2n ** 63n, 4e-15],
  )
})

test('lanes have their errors and their optics', NEEDS, async (t) => {
  const { tested, double } = bringUp(t, {
    structures: { phy_module_info: { 'error_counter_info.rx_los': 4 } },
    grows: { phy_counter_and_ber_info: { 'raw_errors.raw_errors_per_lane': 1000 } },
  })
  await tested.source.sample()
  tested.take()
  double.setElapsed(2_000_000_000n)
  const lanes = await tested.sampleOf(docaPhyLaneType)
  assert.deepEqual(
    lanes.map(({ lane, raw_errors_total, raw_bit_error_ratio, rx_los }) => [
      lane,
      raw_errors_total,
      raw_bit_error_ratio,
      rx_los,
    ]),
    [
      [0, 2040n, 2e-9, 0],
      [1, 41n, 3e-9, 0],
      [2, 42n, 4e-9, 1],
      [3, 43n, 5e-9, 0],
    ],
  )
  assert.deepEqual(
    [lanes[1]?.tx_bias_amperes, lanes[1]?.tx_power_dbm, lanes[1]?.rx_power_dbm, lanes[1]?.snr_media_db],
    [0.0075, 1.5, 0.25, 22.5],
  )
})

test('a link that is down has no speed; a ratio with a zero is none', NEEDS, async (t) => {
  const { port, reasonOf } = bringUp(t, {
    structures: {
      phy_operation_info: { state: 2, phy_state: 2, link_speed_active: 0, link_width: 0 },
      phy_counter_and_ber_info: {
        'raw_errors.raw_ber.ber_coef': 0,
        'effective_errors.effective_ber.ber_magnitude': 0,
      },
    },
  })
  const { link_up, speed_bytes_per_second, lanes, raw_bit_error_ratio, effective_bit_error_ratio } = await port()
  assert.equal(link_up, 0)
  assert.deepEqual(
    [speed_bytes_per_second, lanes, raw_bit_error_ratio, effective_bit_error_ratio],
    [undefined, undefined, undefined, undefined],
  )
  for (const field of ['speed_bytes_per_second', 'lanes', 'raw_bit_error_ratio'])
    assert.equal(reasonOf(field), 'unsupported', field)
})

test('a module without diagnostics has no temperature, and never 0', NEEDS, async (t) => {
  const { port, reasonOf } = bringUp(t, {
    structures: {
      phy_module_info: {
        'cable_power_and_temp_info.ddm_supported': 0,
        'latency_info.round_trip_latency': new Float(0),
      },
    },
  })
  const { vendor, temperature_celsius, temperature_high_celsius, supply_volts, round_trip_seconds } = await port()
  assert.equal(vendor, 'NVIDIA')
  assert.deepEqual(
    [temperature_celsius, temperature_high_celsius, supply_volts, round_trip_seconds],
    [undefined, undefined, undefined, undefined],
  )
  assert.equal(reasonOf('temperature_celsius'), 'unsupported')
})

test('without a cable the rest of the port is read', NEEDS, async (t) => {
  const { port, reasonOf, tested } = bringUp(t, { facts: { cable: 0 } })
  const { vendor, link_down_total, temperature_celsius } = await port()
  assert.deepEqual([vendor, link_down_total, temperature_celsius], ['', 1n, undefined])
  assert.equal(reasonOf('temperature_celsius'), 'unsupported')
  assert.deepEqual(tested.failures, [])
})

for (const [fact, field, present] of [
  ['phy_operation', 'link_up', 'link_down_total'],
  ['phy_counters', 'link_down_total', 'link_up'],
  ['phy_module', 'temperature_celsius', 'link_up'],
] as const) {
  test(`a device without ${fact} has the other readings`, NEEDS, async (t) => {
    const { port, reasonOf } = bringUp(t, { facts: { [fact]: 0 } })
    const record = await port()
    assert.equal(record[field], undefined)
    assert.notEqual(record[present], undefined)
    assert.equal(reasonOf(field), 'unsupported')
  })
}

test('a narrow counter is widened after its wrap', NEEDS, async (t) => {
  const { port, double } = bringUp(t, {
    structures: { phy_counter_and_ber_info: { link_down_counter: 2 ** 32 - 2 } },
    grows: { phy_counter_and_ber_info: { link_down_counter: 1 } },
  })
  await port()
  double.setElapsed(5_000_000_000n)
  assert.equal((await port()).link_down_total, BigInt(2 ** 32 + 3))
})

const originOf = async (tested: TestedSource) =>
  (await tested.sampleOf(docaDiagLinkType)).map(({ type, origin, errors }) => [type, origin, errors])

test('each kind of link error has one origin: the adapter, else the driver', NEEDS, async (t) => {
  const { tested, node } = bringUp(t)
  for (const kind of ['symbol_error', 'link_downed', 'port_rcv_errors'])
    node.write(`${PORTS}/1/counters/${kind}`, '7\n')
  assert.deepEqual(await originOf(tested), [
    ['link_downed', 'doca_phy', 1n],
    ['link_error_recovery', 'doca_phy', 0n],
    ['symbol_error', 'rdma_driver', 7n],
    ['effective_error', 'doca_phy', 0n],
    ['port_rcv_errors', 'rdma_driver', 7n],
  ])
})

for (const [why, device, without] of [
  ['a device without the calls', { facts: { phy: 0 } }, []],
  ['a library without the calls', {}, ['doca_telemetry_phy_cap_is_supported']],
] as const) {
  test(`${why} still has the link errors of its driver`, NEEDS, async (t) => {
    const { tested, node, reasonOf } = bringUp(t, device, without)
    node.write(`${PORTS}/1/counters/link_downed`, '2\n')
    assert.deepEqual(await originOf(tested), [['link_downed', 'rdma_driver', 2n]])
    assert.equal(reasonOf(''), 'unsupported')
  })

  test(`${why} and without a driver is refused with the reason`, NEEDS, async (t) => {
    const { tested } = bringUp(t, device, without)
    await tested.source.sample()
    await assert.rejects(
      tested.source.sample(),
      /doca_telemetry_phy_cap_is_supported answers (NOT_SUPPORTED|NO_SYMBOL)/,
    )
  })
}
