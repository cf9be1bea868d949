import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dcbPortType } from '../../dcb/type.ts'
import { docaDiagPciType } from '../../doca-telemetry-diag/type.ts'
import { docaDiagLinkType, docaPhyType } from '../../doca-telemetry-phy/type.ts'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../../ethtool/type.ts'
import { hostPressureType } from '../../host/type.ts'
import { netdevCarrierType, netdevType } from '../../netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../../nvml/type.ts'
import { pciAerType, pciDeviceType } from '../../pci/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../../rdma/type.ts'
import { NODE_CLASSES } from '../classes/classes.ts'
import { simulator } from '../simulator.ts'
import { ScenarioBook } from './book.ts'
import { SCENARIOS } from './scenarios.ts'
import { ONSET_S, PlayedNode, SET_S, StruckNode } from './test-struck-node.ts'

const RAILS = [0, 1, 2, 3, 4, 5, 6, 7]
/** Long enough before and after the onset. Unit: seconds. */
const LATER = 60
const BEFORE = -30
const GIGA = 1e9

const struck = (name: string, more: { severity?: number; device?: string; durationS?: number } = {}) =>
  new StruckNode([{ name, ...more }])

function between(value: number, low: number, high: number, what: string): void {
  assert.ok(value >= low && value <= high, `${what} is ${value}, wanted ${low} to ${high}`)
}

const tensor = (node: StruckNode, gpu: number, t: number) =>
  node.value(nvmlProfileType, `${gpu}`, 'pipe_tensor_active', t)
const power = (node: StruckNode, gpu: number, t: number) =>
  node.rate(nvmlGpuType, `${gpu}`, 'total_energy_consumption', t) / 1000
const utilisation = (node: StruckNode, gpu: number, t: number) => node.value(nvmlGpuType, `${gpu}`, 'gpu_util', t)
const sent = (node: StruckNode, rail: number, t: number) =>
  node.rate(rdmaPortType, `mlx5_${rail}`, 'xmit_data_bytes_total', t)
const lossRate = (node: StruckNode, rail: number, t: number) =>
  node.rate(rdmaHwFirstType, `mlx5_${rail}`, 'packet_seq_err_total', t)
const paused = (node: StruckNode, rail: number, direction: 'rx' | 'tx', t: number) =>
  node.rate(ethtoolPriorityType, `eth1${rail}/3`, `${direction}_pause_seconds_total`, t)
const linkDowns = (node: StruckNode, rail: number, t: number) =>
  node.gain(ethtoolPortType, `eth1${rail}`, 'link_down_events_phy_total', BEFORE, t)

/** Labels of a GPU, the start of the keys of its series in types with names of Sonde. */
const gpuKey = (node: StruckNode, gpu: number) => {
  const [key = ''] = [...node.report.at(ONSET_S)(nvmlGpuInfoType).keys()].filter((one) => one.startsWith(`${gpu}/`))
  return key
}

/** Bytes of a rail in 95 s. Each step moves the same number of bytes, so this shows the speed of the job. */
const pace = (node: StruckNode, t: number) => node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', t, t + 95)

/** Relative slowdown of the job during the scenario. */
function slowing(node: StruckNode): number {
  return 1 - pace(node, 10) / pace(node, -100)
}

/** Relative decrease of a value during the scenario. */
function fall(node: StruckNode, of: (node: StruckNode, device: number, t: number) => number, device: number): number {
  return 1 - of(node, device, LATER) / of(node, device, BEFORE)
}

/** Asserts that no rail shows the common signs of several similar scenarios. */
function assertNoLoss(node: StruckNode, t: number): void {
  for (const rail of RAILS) assert.ok(lossRate(node, rail, t) < 1, `rail ${rail} loses nothing`)
}
function assertLinksUp(node: StruckNode, t: number): void {
  for (const rail of RAILS) assert.equal(linkDowns(node, rail, t), 0)
}
function assertNotPaused(node: StruckNode, t: number): void {
  for (const rail of RAILS)
    for (const direction of ['rx', 'tx'] as const) assert.ok(paused(node, rail, direction, t) < 0.05)
}

test('healthy: nothing is different from a node without scenarios, to the byte', () => {
  const [node, plain] = [struck('healthy'), new StruckNode([])]
  for (const t of [SET_S, ONSET_S + 200.3]) assert.ok(node.report.bytesAt(t) === plain.report.bytesAt(t))
})

test('retransmission-storm: one rail counts sequence errors and sends more than arrives, all GPUs wait, no pause and no link error', () => {
  const node = struck('retransmission-storm')
  between(lossRate(node, 3, LATER), 100, 5000, 'sequence errors')
  for (const rail of RAILS.filter((each) => each !== 3))
    assert.ok(lossRate(node, rail, LATER) < lossRate(node, 3, LATER) / 100)
  assert.ok(node.rate(rdmaHwType, 'mlx5_3', 'roce_adp_retrans_total', LATER) > 1)
  between(sent(node, 3, LATER) / sent(node, 0, LATER), 1.03, 1.08, 'bytes of the rail to those of another')
  for (const gpu of RAILS) {
    between(fall(node, tensor, gpu), 0.05, 0.6, `fall of tensor activity of GPU ${gpu}`)
    between(utilisation(node, gpu, LATER), 97, 100, 'use')
  }
  assert.equal(lossRate(node, 3, BEFORE) < 1, true)
  assertNotPaused(node, LATER)
  assertLinksUp(node, LATER)
  assert.equal(node.gain(rdmaHwType, 'mlx5_3', 'rnr_nak_retry_err_total', 0, LATER), 0)
  assert.equal(node.gain(ethtoolPortType, 'eth13', 'rx_crc_errors_phy_total', 0, LATER), 0)
})

test('pfc-storm: the source tells others to pause and stalls on PCIe, its victims are told to and lose nothing', () => {
  const node = struck('pfc-storm')
  between(paused(node, 3, 'tx', LATER), 0.3, 1, 'pauses sent')
  assert.ok(paused(node, 3, 'rx', LATER) < 0.05)
  assert.ok(node.value(ethtoolPortType, 'eth13', 'outbound_pci_stalled_wr_ratio', LATER) >= 0)
  assert.ok(node.rate(ethtoolPortType, 'eth13', 'rx_buffer_passed_thres_phy_total', LATER) > 0)
  for (const rail of RAILS.filter((each) => each !== 3)) {
    between(paused(node, rail, 'rx', LATER), 0.1, 0.9, `pauses that rail ${rail} gets`)
    assert.ok(paused(node, rail, 'tx', LATER) < 0.05)
    between(fall(node, sent, rail), 0.1, 0.9, `fall of what rail ${rail} sends`)
  }
  assertNoLoss(node, LATER)
  assert.equal(node.gain(ethtoolPortType, 'eth13', 'tx_pause_storm_warning_events_total', 0, LATER), 0)
})

test('pfc-storm at its worst: the guard warns, switches pauses off, and packets are dropped', () => {
  const node = struck('pfc-storm', { severity: 1 })
  for (const field of [
    'tx_pause_storm_warning_events_total',
    'tx_pause_storm_error_events_total',
    'rx_discards_phy_total',
  ])
    assert.ok(node.gain(ethtoolPortType, 'eth13', field, 0, LATER) > 0, field)
})

test('pfc-priority: RDMA is sent on priority 0 and lost there, pauses are for 3, on which the port receives; others are as before', () => {
  const node = struck('pfc-priority')
  const bytes = (rail: number, priority: number, direction: 'rx' | 'tx', t: number) =>
    node.rate(ethtoolPriorityType, `eth1${rail}/${priority}`, `${direction}_bytes_total`, t)
  const gains = (type: typeof ethtoolPriorityType, key: string, field: string) =>
    [0, LATER].map((t) => node.gain(type, key, field, t, t + LATER - 1))
  between(bytes(3, 3, 'tx', BEFORE), 14 * GIGA, 18 * GIGA, 'RDMA on its priority before')
  assert.equal(bytes(3, 3, 'tx', LATER), 0)
  const sentOn0 = bytes(3, 0, 'tx', LATER)
  between(sentOn0 / sent(node, 3, LATER), 1, 1.03, 'bytes of priority 0 to those of RDMA')
  between(bytes(3, 3, 'rx', LATER) / bytes(2, 3, 'rx', LATER), 0.97, 1.03, 'received on 3, to another rail')
  between(lossRate(node, 3, LATER), 20, 100, 'sequence errors')
  assert.deepEqual(gains(ethtoolPriorityType, 'eth13/3', 'rx_pause_total'), [0, 0])
  for (const gain of gains(ethtoolPriorityType, 'eth13/3', 'tx_pause_total')) assert.ok(gain > 0, 'pauses sent')
  for (const rail of RAILS.filter((each) => each !== 3)) {
    assert.ok(bytes(rail, 0, 'tx', LATER) < GIGA / 1000, `rail ${rail} sends nothing else`)
    assert.ok(node.gain(ethtoolPriorityType, `eth1${rail}/3`, 'rx_pause_total', 0, LATER) > 0)
    assert.ok(lossRate(node, rail, LATER) < 1)
  }
  assert.equal(node.value(dcbPortType, 'eth13', 'pfc_mask', LATER), 8)
  between(slowing(node), -0.02, 0.1, 'slowing of steps')
  assertLinksUp(node, LATER)
})

test('pfc-priority: no counter falls when it begins and ends, and the port counts what its priorities do', () => {
  const node = struck('pfc-priority', { durationS: 20 })
  const counters = (t: number) => [
    node.value(ethtoolPriorityType, 'eth13/0', 'tx_bytes_total', t),
    node.value(ethtoolPriorityType, 'eth13/3', 'tx_bytes_total', t),
    node.value(ethtoolPortType, 'eth13', 'tx_phy_bytes_total', t),
    node.value(rdmaPortType, 'mlx5_3/1', 'xmit_data_bytes_total', t),
    node.value(docaDiagPciType, 'mlx5_3', 'inbound_data_bytes_total', t),
  ]
  let last = counters(-1)
  for (let t = -0.9; t < 25; t += 0.1) {
    const next = counters(t)
    for (const [at, value] of next.entries()) assert.ok(value >= (last[at] ?? 0), `counter ${at} at ${t}`)
    last = next
  }
  const all = Array.from({ length: 8 }, (_, priority) =>
    node.gain(ethtoolPriorityType, `eth13/${priority}`, 'tx_bytes_total', 0, 15),
  )
  const ofPriorities = all.reduce((sum, bytes) => sum + bytes, 0)
  // Counters of 100 days are read as numbers, which round them.
  between(node.gain(ethtoolPortType, 'eth13', 'tx_phy_bytes_total', 0, 15) - ofPriorities, -300, 300, 'difference')
})

test('incast: the port receives at line rate and much of it is marked, hardly any pause, steps little longer', () => {
  const node = struck('incast')
  const packets = node.rate(rdmaPortCountersType, 'mlx5_3/1', 'rcv_packets_total', LATER)
  const marked = node.rate(rdmaHwType, 'mlx5_3', 'np_ecn_marked_roce_packets_total', LATER)
  between(marked / packets, 0.05, 0.3, 'share of packets marked')
  const notified = node.rate(rdmaHwType, 'mlx5_3', 'np_cnp_sent_total', LATER)
  between(notified / marked, 0.05, 0.9, 'notifications to marks')
  const seconds = Array.from({ length: 10 }, (_, at) => LATER + at)
  const peak = Math.max(...seconds.map((t) => node.gain(rdmaPortType, 'mlx5_3/1', 'rcv_data_bytes_total', t, t + 1)))
  between(peak, 45 * GIGA, 50 * GIGA, 'bytes received in the fullest second')
  between(slowing(node), 0.02, 0.15, 'slowing of steps')
  assertNotPaused(node, LATER)
  assertNoLoss(node, LATER)
})

test('hash-collision: both rails are marked though neither is full, and every step is longer', () => {
  const node = struck('hash-collision')
  const share = (rail: number) =>
    node.rate(rdmaHwType, `mlx5_${rail}`, 'np_ecn_marked_roce_packets_total', LATER) /
    node.rate(rdmaPortCountersType, `mlx5_${rail}/1`, 'rcv_packets_total', LATER)
  for (const rail of [3, 4]) between(share(rail), 0.05, 0.3, `share of packets marked on rail ${rail}`)
  for (const rail of [0, 5]) assert.ok(share(rail) < 0.01)
  for (const rail of [3, 4]) {
    const tenths = Array.from({ length: 60 }, (_, at) => LATER + at / 10)
    const peak = Math.max(
      ...tenths.map((t) => node.gain(rdmaPortType, `mlx5_${rail}/1`, 'rcv_data_bytes_total', t, t + 0.1)),
    )
    between(peak / 0.1, 20 * GIGA, 30 * GIGA, 'bytes received in the fullest tenth of a second')
  }
  between(slowing(node), 0.05, 0.3, 'slowing of steps')
  assertNotPaused(node, LATER)
  assertNoLoss(node, LATER)
})

test('link-downtrain: the link goes down once and comes back at half its rate, and every GPU waits for its rail', () => {
  const node = struck('link-downtrain')
  assert.equal(linkDowns(node, 3, 170), 1)
  const rate = (rail: number, t: number) => node.value(rdmaPortType, `mlx5_${rail}/1`, 'rate_bytes_per_second', t)
  assert.deepEqual([rate(3, BEFORE), rate(3, LATER), rate(4, LATER)], [50 * GIGA, 25 * GIGA, 50 * GIGA])
  assert.equal(node.record(rdmaPortType, 'mlx5_3/1', LATER)?.signalling, 'HDR')
  assert.equal(node.value(docaPhyType, 'mlx5_3', 'speed_bytes_per_second', LATER), 25 * GIGA)
  assert.equal(node.value(ethtoolLinkType, 'eth13', 'speed_bytes_per_second', LATER), 25 * GIGA)
  between(slowing(node), 0.05, 0.4, 'slowing of steps')
  for (const gpu of RAILS) assert.ok(utilisation(node, gpu, LATER) >= 97)
  assertNoLoss(node, LATER)
  assertNotPaused(node, LATER)
})

test('link-flap: the link goes down three times in a minute, connections time out and everyone waits; other links stay up', () => {
  const node = struck('link-flap')
  assert.equal(linkDowns(node, 3, 70), 3)
  assert.equal(node.gain(netdevCarrierType, 'eth13', 'carrier_changes_total', BEFORE, 70), 6)
  const downs = (rail: number, origin: string) =>
    node.gain(docaDiagLinkType, `mlx5_${rail}/1/link_downed/${origin}`, 'errors', BEFORE, 70)
  assert.deepEqual([downs(3, 'doca_phy'), downs(4, 'doca_phy')], [3, 0])
  assert.equal(node.value(netdevType, 'eth13', 'up', 3), 0)
  assert.equal(node.value(netdevType, 'eth13', 'up', 12), 1)
  assert.ok(node.gain(rdmaHwType, 'mlx5_3', 'local_ack_timeout_err_total', 0, 4) > 10)
  const inside = node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', 1, 3.5)
  assert.ok(inside < 1e6, 'no rail sends while the link is down')
  for (const gpu of RAILS) {
    assert.equal(node.value(nvmlGpuType, `${gpu}`, 'gpu_util', 3), 100)
    between(node.value(nvmlGpuType, `${gpu}`, 'power_usage', 3), 120, 250, 'power while waiting')
  }
  for (const rail of RAILS.filter((each) => each !== 3)) assert.equal(linkDowns(node, rail, 70), 0)
  assertNoLoss(node, LATER)
})

test('link-flap beyond 34 s: connections give up and the job is gone', () => {
  const node = struck('link-flap', { severity: 45, durationS: 90 })
  assert.equal(node.gain(rdmaHwType, 'mlx5_3', 'req_transport_retries_exceeded_total', 0, 40), 1)
  assert.equal(node.gain(nvmlXidType, '0', 'events_total', 0, 40), 1)
  assert.equal(utilisation(node, 0, 50), 0)
})

test('link-ber: corrected bits of one lane rise step by step long before anything is lost; then errors are left', () => {
  const node = struck('link-ber')
  const corrected = (t: number) => node.gain(ethtoolPortType, 'eth13', 'rx_corrected_bits_phy_total', t, t + 1)
  assert.ok(corrected(30) > 10 * corrected(BEFORE))
  assert.ok(corrected(100) > 5 * corrected(30))
  between(corrected(200), 8e6, 2e7, 'corrected bits in the end')
  const lane = (index: number) => node.gain(ethtoolLaneType, `eth13/${index}`, 'rx_err_phy_total', 200, 210)
  assert.ok(lane(2) > 20 * lane(0), 'one lane has nearly all of them')
  assert.ok(node.value(docaPhyType, 'mlx5_3', 'raw_bit_error_ratio', 200) > 2e-5)
  const left = (t: number) => node.gain(ethtoolPortType, 'eth13', 'rx_pcs_symbol_err_phy_total', 0, t)
  assert.equal(left(140), 0)
  assert.ok(left(200) > 0)
  // The job is not affected until error correction fails.
  between(fall(node, tensor, 0), -0.02, 0.02, 'fall of tensor activity')
  assert.ok(node.rate(ethtoolPortType, 'eth10', 'rx_corrected_bits_phy_total', 200) < corrected(200) / 100)
})

test('pcie-downtrain: errors come first, the link is slower, every GPU waits, and the other links are as they were', () => {
  const node = struck('pcie-downtrain')
  const address = '0000:5c:00.0'
  const speed = (t: number) => node.value(pciDeviceType, address, 'current_link_speed_transfers_per_second', t)
  assert.deepEqual([speed(BEFORE), speed(1), speed(LATER)], [32e9, 8e9, 8e9])
  assert.equal(node.value(pciDeviceType, address, 'max_link_speed_transfers_per_second', LATER), 32e9)
  assert.ok(node.gain(pciDeviceType, address, 'aer_correctable_total', -11, 0) > 100)
  assert.ok(paused(node, 3, 'tx', LATER) > 0.2)
  for (const gpu of RAILS) {
    between(fall(node, tensor, gpu), 0.3, 0.45, `fall of tensor activity of GPU ${gpu}`)
    between(power(node, gpu, BEFORE) - power(node, gpu, LATER), 120, 220, `watts that GPU ${gpu} draws less`)
  }
  assert.equal(node.value(pciDeviceType, '0000:4c:00.0', 'current_link_speed_transfers_per_second', LATER), 32e9)
  assertNoLoss(node, LATER)
  assertLinksUp(node, LATER)
})

test('pcie-downtrain to half the lanes is easy to miss: steps are hardly longer', () => {
  const node = struck('pcie-downtrain', { severity: 0.5 })
  assert.equal(node.value(pciDeviceType, '0000:5c:00.0', 'current_link_width_lanes', LATER), 8)
  between(fall(node, tensor, 0), -0.02, 0.15, 'fall of tensor activity')
})

test('pcie-downtrain of a GPU shows on the GPU, not on its NIC', () => {
  const node = struck('pcie-downtrain', { device: 'sim-gpu-2' })
  assert.equal(node.value(nvmlGpuType, '2', 'pcie_link_gen', LATER), 3)
  assert.equal(node.value(pciDeviceType, '0000:4b:00.0', 'current_link_speed_transfers_per_second', LATER), 32e9)
})

test('pcie-aer: correctable errors of several names, nothing else; on a GPU replays, and from 500 a second some that are not correctable', () => {
  const node = struck('pcie-aer', { durationS: 600 })
  const errors = (error: string) => node.gain(pciAerType, `0000:5c:00.0/correctable/${error}`, 'errors_total', 0, 500)
  for (const error of ['BadTLP', 'RxErr']) assert.ok(errors(error) > 1000, `${error}: ${errors(error)}`)
  between(fall(node, tensor, 0), -0.02, 0.1, 'fall of tensor activity')
  assertNoLoss(node, LATER)
  const gpu = struck('pcie-aer', { device: 'gpu-4', severity: 800, durationS: 600 })
  assert.ok(gpu.gain(nvmlGpuType, '4', 'pcie_replay_counter', 0, 500) > 1000)
  assert.ok(gpu.gain(pciDeviceType, '0000:9b:00.0', 'aer_nonfatal_total', 0, 500) > 0)
  assert.equal(gpu.gain(nvmlGpuType, '3', 'pcie_replay_counter', 0, 500), 0)
})

test('pcie-stall: writes and reads of one NIC wait for the host; link, errors, pauses and steps are as before', () => {
  const node = struck('pcie-stall')
  const waited = (field: string, t: number, rail = 3) => node.gain(docaDiagPciType, `mlx5_${rail}`, field, t, t + 50)
  for (const field of ['write_data_credit_stall_seconds_total', 'read_completion_stall_seconds_total'])
    between(waited(field, 10) / waited(field, -60), 15, 30, field)
  const ofNeighbour = (t: number) => waited('write_data_credit_stall_seconds_total', t, 4)
  between(ofNeighbour(10) / ofNeighbour(-60), 0.8, 1.2, 'stalls of the neighbour')
  const address = '0000:5c:00.0'
  assert.equal(node.value(pciDeviceType, address, 'current_link_speed_transfers_per_second', LATER), 32e9)
  assert.equal(node.gain(pciDeviceType, address, 'aer_correctable_total', BEFORE, LATER), 0)
  between(slowing(node), -0.02, 0.02, 'slowing of steps')
  assertNotPaused(node, LATER)
  assertNoLoss(node, LATER)
})

test('ecc-burst: corrected errors, then one that is not, its XIDs, a row that waits, and no process on that GPU', () => {
  const node = struck('ecc-burst')
  const corrected = node.gain(nvmlGpuType, '2', 'ecc_sbe_vol_total', 0, 59)
  between(corrected, 30, 120, 'corrected errors')
  assert.equal(node.gain(nvmlGpuType, '2', 'ecc_dbe_vol_total', 0, 59), 0)
  assert.equal(node.gain(nvmlGpuType, '2', 'ecc_dbe_vol_total', 59, 70), 1)
  for (const xid of [48, 63, 94, 154]) assert.ok(node.value(nvmlXidType, `2`, 'events_total', 70) > 0, `XID ${xid}`)
  assert.equal(node.value(nvmlGpuType, '2', 'row_remap_pending', 70), 1)
  assert.equal(node.value(nvmlGpuType, '2', 'get_gpu_recovery_action', 70), 1)
  assert.ok(node.value(nvmlGpuType, '2', 'fb_used', 70) < 100)
  assert.equal(utilisation(node, 0, 70), 100)
  assert.equal(node.value(nvmlGpuType, '2', 'row_remap_pending', 300), 0)
  assert.equal(node.gain(nvmlGpuType, '3', 'ecc_sbe_vol_total', 0, 70), 0)
})

test('ecc-burst at its worst: no row is left to replace the broken one, and every process dies', () => {
  const node = struck('ecc-burst', { severity: 600 })
  assert.equal(node.value(nvmlGpuType, '2', 'row_remap_failure', 70), 1)
  assert.equal(node.value(nvmlGpuType, '2', 'row_remap_pending', 70), 0)
  const told = (xid: number) =>
    [
      ...node.report
        .at(ONSET_S + 70)(nvmlXidType)
        .keys(),
    ].includes(`${gpuKey(node, 2)}/${xid}`)
  assert.deepEqual([48, 63, 64, 94, 95].map(told), [true, true, true, false, true])
})

test('thermal-throttle: temperature goes to its limit, clock and power fall with it, and the GPU is the one that does not wait', () => {
  const node = struck('thermal-throttle')
  const celsius = (gpu: number, t: number) => node.value(nvmlGpuType, `${gpu}`, 'gpu_temp', t)
  between(celsius(3, 250), 85, 91, 'temperature')
  assert.ok(celsius(0, 250) < 82)
  const reasons = node.value(nvmlGpuType, '3', 'clocks_event_reasons', 250)
  assert.ok((reasons & 0x60) !== 0 || node.gain(nvmlGpuType, '3', 'thermal_violation', 200, 250) > 1e9)
  assert.equal(node.gain(nvmlGpuType, '0', 'thermal_violation', 0, 250), 0)
  assert.ok(tensor(node, 3, 250) > tensor(node, 0, 250))
  assert.ok(
    node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', 200, 250) <
      node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', -51, -1),
  )
})

test('power-cap: limit and power of every GPU lower, always at the limit, no heat', () => {
  const node = struck('power-cap')
  for (const gpu of RAILS) {
    assert.equal(node.value(nvmlGpuType, `${gpu}`, 'enforced_power_limit', LATER), 500)
    between(power(node, gpu, LATER), 400, 500, 'power')
    assert.ok(node.rate(nvmlGpuType, `${gpu}`, 'clocks_event_reason_sw_power_cap_ns', LATER) > 0.7e9)
    assert.equal(node.gain(nvmlGpuType, `${gpu}`, 'thermal_violation', 0, LATER), 0)
  }
  between(slowing(node), 0.08, 0.16, 'slowing of steps')
})

test('power-brake: the reason is told for all eight at once, and clocks halve', () => {
  const node = struck('power-brake')
  for (const gpu of RAILS) {
    assert.equal(node.value(nvmlGpuType, `${gpu}`, 'clocks_event_reasons', 5) & 0x88, 0x88)
    assert.ok(node.value(nvmlGpuType, `${gpu}`, 'sm_clock', 5) <= 990)
    assert.ok(node.gain(nvmlGpuType, `${gpu}`, 'clocks_event_reason_hw_power_brake_slowdown_ns', 0, 30) > 29e9)
    between(power(node, gpu, 50) / power(node, gpu, BEFORE), 0.4, 0.65, 'power to that before')
  }
})

test('straggler: the seven healthy GPUs look idle, the slow one does not', () => {
  const node = struck('straggler')
  for (const gpu of RAILS.filter((each) => each !== 5)) {
    between(fall(node, tensor, gpu), 0.12, 0.22, `fall of tensor activity of GPU ${gpu}`)
    between(power(node, gpu, BEFORE) - power(node, gpu, LATER), 50, 110, `watts that GPU ${gpu} draws less`)
    assert.equal(utilisation(node, gpu, LATER) >= 97, true)
    assert.ok(tensor(node, 5, LATER) >= 1.08 * tensor(node, gpu, LATER))
  }
  between(fall(node, tensor, 5), -0.06, 0.04, 'fall of tensor activity of the slow one')
  between(slowing(node), 0.15, 0.21, 'slowing of steps')
  assertNoLoss(node, LATER)
  assertNotPaused(node, LATER)
})

test('stuck-collective: use 100 %, nothing computed, no byte, little power; the watchdog ends it', () => {
  const node = struck('stuck-collective', { durationS: 600 })
  for (const gpu of RAILS) {
    assert.equal(utilisation(node, gpu, LATER), 100)
    assert.ok(tensor(node, gpu, LATER) < 0.01)
    between(power(node, gpu, LATER), 120, 0.35 * 700, 'power')
    assert.ok(sent(node, gpu, LATER) < 0.001 * 50 * GIGA)
  }
  assert.equal(node.gain(nvmlXidType, '0', 'events_total', 0, 490), 1)
  assert.equal(utilisation(node, 0, 500), 0)
})

test('data-stall: use falls on all GPUs, bursts are as fast as before', () => {
  const node = struck('data-stall')
  const mean = (gpu: number) =>
    Array.from({ length: 21 }, (_, at) => utilisation(node, gpu, LATER + at)).reduce((sum, value) => sum + value) / 21
  for (const gpu of RAILS) between(mean(gpu), 40, 80, 'use')
  const peak = (from: number) =>
    Math.max(
      ...Array.from({ length: 40 }, (_, at) => {
        return node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', from + at * 0.25, from + at * 0.25 + 0.25)
      }),
    )
  between(peak(LATER) / peak(-20), 0.95, 1.05, 'burst to that before')
  between(node.rate(hostPressureType, 'io', 'waiting_seconds_total', LATER), 0.2, 0.5, 'io pressure')
  between(node.rate(hostPressureType, 'io', 'waiting_seconds_total', BEFORE - 40), 0, 0.05, 'io pressure before')
  between(node.rate(hostPressureType, 'cpu', 'waiting_seconds_total', LATER), 0, 0.05, 'cpu pressure')
  assertNoLoss(node, LATER)
})

test('gpu-lost: errors before it, then its series end, and the others wait; its NIC is well', () => {
  const node = struck('gpu-lost')
  assert.ok(node.gain(nvmlGpuType, '6', 'pcie_replay_counter', -60, -1) > 50)
  assert.equal(node.record(nvmlGpuType, '6', 5), undefined)
  assert.equal(node.record(nvmlProfileType, '6', 5), undefined)
  assert.ok(node.record(nvmlGpuType, '5', 5) !== undefined)
  assert.equal(utilisation(node, 5, 30), 100)
  assert.ok(tensor(node, 5, LATER) < 0.01)
  assertLinksUp(node, LATER)
})

test('noisy-neighbour: bytes on priority 0 that are not the job’s, the rail is slower, PCIe is not', () => {
  const node = struck('noisy-neighbour')
  const other = node.rate(ethtoolPriorityType, 'eth13/0', 'tx_bytes_total', LATER)
  between(other, 5 * GIGA, 25 * GIGA, 'bytes on priority 0')
  assert.ok(node.rate(ethtoolPriorityType, 'eth10/0', 'tx_bytes_total', LATER) < GIGA)
  assert.ok(
    node.rate(rdmaPortCountersType, 'mlx5_3/1', 'xmit_wait_ticks_total', LATER) >
      3 * node.rate(rdmaPortCountersType, 'mlx5_0/1', 'xmit_wait_ticks_total', LATER),
  )
  assert.equal(node.value(pciDeviceType, '0000:5c:00.0', 'current_link_speed_transfers_per_second', LATER), 32e9)
  assertNoLoss(node, LATER)
})

test('checkpoint: all GPUs stop and copy to the host, storage is busy, the rails are not; then the job goes on', () => {
  const node = struck('checkpoint')
  // The value is the mean of the last 21 s.
  const copied = (t: number) => node.value(nvmlProfileType, '0', 'pcie_tx_bytes', t) * 21
  assert.ok(copied(20) > 28 * GIGA, `bytes to the host: ${copied(20)}`)
  between(utilisation(node, 0, 10), 0, 30, 'use')
  assert.ok(node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', 1, 19) < 1e6)
  assert.ok(node.gain(rdmaPortType, 'mlx5_bond_0/1', 'xmit_data_bytes_total', 1, 19) > 18 * 2 * GIGA)
  assert.ok(utilisation(node, 0, 40) > 90)
})

test('checkpoint-asynchronous: all GPUs copy to the host while they go on, one step is longer, and storage is busy', () => {
  const node = struck('checkpoint-asynchronous')
  // The value is the mean of the last 21 s and includes the PCIe traffic of the rail.
  const byRail = 1.06 * node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', -1, 20)
  const copied = node.value(nvmlProfileType, '0', 'pcie_tx_bytes', 20) * 21 - byRail
  between(copied, 28 * GIGA, 33 * GIGA, 'bytes to the host')
  for (let t = 1; t < 20; t += 3) assert.ok(utilisation(node, 0, t) > 80)
  assert.ok(node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', 0, 20) > 100 * GIGA)
  assert.ok(node.gain(rdmaPortType, 'mlx5_bond_0/1', 'xmit_data_bytes_total', 5, 105) > 190 * GIGA)
  assert.ok(node.rate(hostPressureType, 'io', 'waiting_seconds_total', LATER) > 0.3)
  between(slowing(node), 0, 0.03, 'slowing of steps')
})

test('mig: no use of the whole GPU, activity of each instance; the others are as they were', () => {
  const node = struck('mig')
  assert.ok(Number.isNaN(utilisation(node, 0, LATER)))
  assert.equal(node.value(nvmlGpuType, '0', 'mig_mode', LATER), 1)
  const records = [
    ...node.report
      .at(ONSET_S + LATER)(nvmlMigType)
      .values(),
  ]
  assert.deepEqual(
    records.map((record) => record.GPU_I_PROFILE),
    ['3g.40gb', '3g.40gb', '1g.10gb'],
  )
  assert.ok(utilisation(node, 1, LATER) >= 97)
})

test('time-slicing: use is 100 % throughout', () => {
  const node = struck('time-slicing')
  for (let t = LATER; t < LATER + 10; t++) assert.equal(utilisation(node, 1, t), 100)
})

test('random: the seed decides which fault strikes what and when, and the node is healthy between two', () => {
  const effectsOf = (seed: number) => {
    const played = new PlayedNode(NODE_CLASSES[0], seed)
    new ScenarioBook(played).start({ name: 'random', severity: 12, durationS: 3600 }, SET_S)
    return played.effects
  }
  assert.deepEqual(effectsOf(3), effectsOf(3))
  const plays = new Set([1, 2, 3, 4, 5, 6].map((seed) => JSON.stringify(effectsOf(seed))))
  assert.equal(plays.size, 6)
  for (const seed of [1, 2, 3]) {
    const spans = effectsOf(seed).flatMap(({ spans: all }) => all)
    for (let share = 0; share < 12; share++) {
      const [from, to] = [SET_S + share * 300, SET_S + (share + 1) * 300]
      const own = spans.filter(({ fromS, toS }) => toS > from && fromS < to)
      assert.ok(own.length > 0, `a fault in share ${share}`)
      for (const { fromS, toS } of own) assert.ok(fromS >= from && toS <= to - 50, `${fromS - from} to ${toS - from}`)
    }
  }
})

test('every scenario ends: steps are as long as before it', () => {
  for (const { name } of SCENARIOS) {
    const node = struck(name, { durationS: 60 })
    const steps = (from: number) => node.gain(rdmaPortType, 'mlx5_0/1', 'xmit_data_bytes_total', from, from + 474)
    // A hot GPU cools for a while, and a link that was down waits for its retry.
    between(steps(300) / steps(-600), 0.99, 1.01, `${name}: bytes after it to those before`)
  }
})

/** All records at a time, as text. Bytes are not compared, because later values may change the numbers of symbols. */
function toldAt(node: StruckNode, t: number): string {
  const records = node.report.at(t)
  const told = simulator.types.flatMap((type) => [...records(type).entries()])
  return JSON.stringify(told, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

test('nothing before a scenario was set is different, whatever it does', () => {
  const plain = toldAt(new StruckNode([]), SET_S - 0.001)
  assert.ok(plain.length > 10_000)
  for (const { name } of SCENARIOS) assert.ok(toldAt(struck(name), SET_S - 0.001) === plain, name)
})

test('different scenarios on one device and on several show side by side', () => {
  const node = new StruckNode([
    { name: 'retransmission-storm', device: 'mlx5_3' },
    { name: 'pcie-aer', device: 'mlx5_3', durationS: 600 },
    { name: 'straggler', device: 'gpu-1' },
  ])
  assert.ok(lossRate(node, 3, LATER) > 100)
  assert.ok(node.gain(pciAerType, '0000:5c:00.0/correctable/BadTLP', 'errors_total', 0, 500) > 1000)
  assert.ok(tensor(node, 1, LATER) > 1.05 * tensor(node, 0, LATER))
})
