import assert from 'node:assert/strict'
import { createSource, type Labels, type RecordType, type Source } from '@sonde/sdk'
import type { Hint } from '@sonde/sdk/api'
import { dcbPortType } from '../sources/dcb/type.ts'
import { docaPhyType } from '../sources/doca-telemetry-phy/type.ts'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../sources/ethtool/type.ts'
import { hostCpuPackageType, hostDiskType, hostMemoryControllerType, hostPressureType } from '../sources/host/type.ts'
import { netdevCarrierType, netdevType } from '../sources/netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../sources/nvml/type.ts'
import { pciAerType, pciDeviceType } from '../sources/pci/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../sources/rdma/type.ts'
import type { HintDevice, HintDeviceLookup } from './device.ts'
import { Hints } from './hints.ts'

/** Gives the value of a gauge, or the rate of a counter, that a field has in the record in hand. */
type Vary = (field: string, value: number) => number

/** One series of made records: counters rise by their rate, gauges keep their value. Undefined values are absent. */
class MadeSeries {
  readonly type: RecordType
  readonly labels: Labels
  /** Per second, by name of the field. */
  readonly rates: Record<string, number | undefined> = {}
  readonly values: Record<string, number | undefined> = {}
  readonly totals: Record<string, number> = {}
  isSilent = false
  /** The fixed part of every record of the series: its labels and required fields. */
  readonly #base: Readonly<Record<string, unknown>>
  readonly #numbers: readonly { readonly name: string; readonly isWhole: boolean }[]

  constructor(type: RecordType, labels: Labels) {
    this.type = type
    this.labels = labels
    const base: Record<string, unknown> = {}
    for (const { name, field } of type.layout.slots) {
      const text = labels[name] ?? ''
      if (field.role === 'label') base[name] = field.kind === 'symbol' ? text : Number(text)
      else if (!field.optional) base[name] = field.kind === 'symbol' ? '' : 0
    }
    this.#base = base
    this.#numbers = type.layout.slots
      .filter(({ field }) => field.role !== 'label' && field.role !== 'timestamp')
      .map(({ name, field }) => ({ name, isWhole: field.kind !== 'f64' }))
  }

  /** Passes a second and reports the record that is due then. */
  report(source: Source, timeMs: number, vary: Vary): void {
    const record: Record<string, unknown> = { ...this.#base, time: BigInt(Math.round(timeMs * 1e6)) }
    for (const { name, isWhole } of this.#numbers) {
      const value = this.#valueOf(name, vary)
      if (value !== undefined) record[name] = isWhole ? Math.floor(value) : value
    }
    if (!this.isSilent) source.report(this.type, record as never)
  }

  #valueOf(name: string, vary: Vary): number | undefined {
    const rate = this.rates[name]
    const value = this.values[name]
    if (rate === undefined) return value === undefined ? undefined : vary(name, value)
    this.totals[name] = (this.totals[name] ?? startOf(name)) + vary(name, rate)
    return this.totals[name]
  }
}

/**
 * Value of a counter at the start. Uncorrected memory errors must start at 0, because earlier errors would open a hint.
 */
function startOf(field: string): number {
  return field === 'ecc_dbe_vol_total' ? 0 : 1000
}

/** One GPU or NIC of hand-made records. */
export class MadeDevice {
  readonly device: HintDevice
  readonly series = new Map<string, MadeSeries>()

  constructor(device: HintDevice) {
    this.device = device
  }

  /** The series of a type, made on first use. */
  of(type: RecordType, labels: Labels): MadeSeries {
    const key = `${type.name} ${Object.values(labels).join(' ')}`
    let found = this.series.get(key)
    if (found === undefined) {
      found = new MadeSeries(type, labels)
      this.series.set(key, found)
    }
    return found
  }

  /** Sets rates of counters, per second, wherever the device has a field of the name. */
  rate(rates: Readonly<Record<string, number | undefined>>): void {
    this.#set(rates, (series) => series.rates)
  }

  /** Sets gauges wherever the device has a field of the name. */
  set(values: Readonly<Record<string, number | undefined>>): void {
    this.#set(values, (series) => series.values)
  }

  /** Adds to counters at once. */
  add(counts: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(counts))
      for (const { type, totals } of this.series.values())
        if (type.layout.slots.some((slot) => slot.name === name)) totals[name] = (totals[name] ?? startOf(name)) + count
  }

  /** Starts all counters of the device at 0 again. */
  reset(): void {
    for (const { totals } of this.series.values()) for (const name of Object.keys(totals)) totals[name] = 0
  }

  silence(isSilent: boolean): void {
    for (const series of this.series.values()) series.isSilent = isSilent
  }

  #set(wanted: object, of: (series: MadeSeries) => Record<string, number | undefined>): void {
    for (const [name, value] of Object.entries(wanted)) {
      const having = [...this.series.values()].filter(({ type }) =>
        type.layout.slots.some((slot) => slot.name === name),
      )
      if (having.length === 0) throw new Error(`no series of ${this.device.id} has the field ${name}`)
      for (const series of having) of(series)[name] = value
    }
  }
}

const EPOCH_MS = Date.UTC(2026, 0, 1)
const LINE_BYTES = 50e9
const RAIL_BYTES = 15.6e9
/** When hints evaluate after a sample. Unit: milliseconds. */
const QUARTERS_MS = [100, 350, 600, 850]

/** A node with 8 GPUs and 8 NICs that trains, evenly, in hand-made records once a second; and hints that look at it. */
export class TrainingNode {
  readonly gpus: readonly MadeDevice[]
  /** The last one is for storage, and in no rail. */
  readonly nics: readonly MadeDevice[]
  readonly host = new MadeDevice(deviceOf('node', 'pci', 'node', null))
  readonly hints: Hints
  /** Clock of the records. Unit: milliseconds since the Unix epoch. */
  nowMs = EPOCH_MS
  /** Changes the values of records. Default: no change. */
  vary: Vary = (_, value) => value
  readonly #source: Source

  constructor() {
    this.gpus = Array.from({ length: 8 }, (_, i) => trainingGpu(i))
    this.nics = Array.from({ length: 9 }, (_, i) => trainingNic(i, i < 8 ? i : null))
    for (const resource of ['io', 'cpu'])
      this.host.of(hostPressureType, { resource }).rates.waiting_seconds_total = 0.01
    for (const disk of ['nvme0n1', 'nvme1n1']) this.host.of(hostDiskType, { disk }).rates.io_seconds_total = 0.1
    for (const controller of ['0', '1', '2']) this.host.of(hostMemoryControllerType, { controller })
    for (const socket of ['0', '1']) this.host.of(hostCpuPackageType, { package: socket })
    this.host.rate({ corrected_errors_total: 0, uncorrected_errors_total: 0 })
    this.host.rate({ throttles_total: 0, throttled_seconds_total: 0 })
    const devices = lookupOf([...this.gpus, ...this.nics])
    this.hints = new Hints({ devices })
    this.#source = createSource({ id: 'made', intervalMs: 1000, emit: (batch) => this.hints.accept(batch) })
  }

  get rails(): readonly MadeDevice[] {
    return this.nics.slice(0, 8)
  }

  gpu(index: number): MadeDevice {
    return this.gpus[index] as MadeDevice
  }

  nic(index: number): MadeDevice {
    return this.nics[index] as MadeDevice
  }

  /**
   * Passes seconds, a sample each; after each the hints evaluate at these times. Gives the ids of all hints that were
   * open meanwhile.
   */
  run(seconds: number, each?: (second: number) => void, evaluatedMs: readonly number[] = QUARTERS_MS): Set<string> {
    const seen = new Set<string>()
    for (let second = 0; second < seconds; second++) {
      each?.(second)
      this.nowMs += 1000
      this.#sample()
      for (const afterMs of evaluatedMs) {
        this.hints.evaluate(this.nowMs + afterMs)
        for (const { id } of this.open()) seen.add(id)
      }
    }
    return seen
  }

  /** One sample of everything. */
  #sample(): void {
    for (const { series } of [...this.gpus, ...this.nics, this.host])
      for (const one of series.values()) one.report(this.#source, this.nowMs, this.vary)
    this.#source.flush()
  }

  open(): readonly Hint[] {
    return this.hints.answer().hints
  }

  /** Id, stage and severity of every open hint. */
  shown(): string[] {
    return this.open().map(({ id, stage, severity }) => `${id} ${stage} ${severity}`)
  }
}

/** A node that has trained for two minutes, in which no hint opened. */
export function quietNode(): TrainingNode {
  const node = new TrainingNode()
  // The tests of healthy nodes check that no hint opens between samples.
  const seen = node.run(110, undefined, [850])
  assert.deepEqual([...seen, ...node.run(10)], [])
  return node
}

function trainingGpu(index: number): MadeDevice {
  const id = `gpu-${index}`
  const made = new MadeDevice(deviceOf(id, 'gpu', `GPU ${index}`, index, [`nic-mlx5_${index}-1`]))
  const labels = { gpu: String(index), UUID: `GPU-${index}` }
  for (const type of [nvmlGpuInfoType, nvmlGpuType, nvmlProfileType]) made.of(type, labels)
  linkAt(made, `0000:${index}b:00.0`)
  made.set({
    gpu_util: 99,
    sm_active: 0.8,
    pipe_tensor_active: 0.5,
    dram_active: 0.4,
    pcie_tx_bytes: 16e9,
    pcie_rx_bytes: 16e9,
    power_usage: 628,
    enforced_power_limit: 700,
    power_limit_default_watts: 700,
    sm_clock: 1755,
    gpu_temp: 66,
    memory_temp: 80,
    slowdown_celsius: 89,
    clocks_event_reasons: 0x4,
    fb_used: 70_000,
    row_remap_pending: 0,
    row_remap_failure: 0,
    pcie_link_gen: 5,
    pcie_link_width: 16,
    pcie_generation_max: 5,
    pcie_width_max_lanes: 16,
    mig_mode: 0,
  })
  made.rate({
    clocks_event_reason_sw_power_cap_ns: 5e8,
    clocks_event_reason_sw_therm_slowdown_ns: 0,
    clocks_event_reason_hw_therm_slowdown_ns: 0,
    clocks_event_reason_hw_power_brake_slowdown_ns: 0,
    thermal_violation: 0,
    ecc_sbe_vol_total: 0,
    ecc_dbe_vol_total: 0,
    pcie_replay_counter: 0,
  })
  return made
}

function trainingNic(index: number, rail: number | null): MadeDevice {
  const name = rail === null ? 'mlx5_bond_0' : `mlx5_${index}`
  const pairs = rail === null ? [] : [`gpu-${rail}`]
  const made = new MadeDevice(deviceOf(`nic-${name}-1`, 'nic', name, rail, pairs))
  const netdev = rail === null ? 'bond0' : `eth1${index}`
  for (const type of [rdmaPortType, rdmaPortCountersType, rdmaHwFirstType, rdmaHwType])
    made.of(type, { rdma_device: name, port: '1' })
  for (const type of [dcbPortType, ethtoolLinkType, ethtoolPortType, netdevType, netdevCarrierType])
    made.of(type, { device: netdev })
  for (const priority of ['0', '3']) made.of(ethtoolPriorityType, { device: netdev, priority })
  for (const lane of ['0', '1', '2', '3'])
    made.of(ethtoolLaneType, { device: netdev, lane }).rates.rx_err_phy_total = 1000
  made.of(docaPhyType, { rdma_device: name }).values.raw_bit_error_ratio = 1e-8
  linkAt(made, `0000:${index}a:00.0`)
  const bytes = rail === null ? 1e8 : RAIL_BYTES
  made.set({
    rate_bytes_per_second: LINE_BYTES,
    state: 4,
    carrier: 1,
    up: 1,
    responsive: 1,
    pfc_mask: 0b1000,
    outbound_pci_stalled_wr_ratio: 0.01,
  })
  made.rate({
    xmit_data_bytes_total: bytes,
    rcv_data_bytes_total: bytes,
    xmit_packets_total: bytes / 2900,
    rcv_packets_total: bytes / 2900,
    link_downed_total: 0,
    symbol_error_total: 0,
    packet_seq_err_total: 0,
    local_ack_timeout_err_total: 0,
    roce_adp_retrans_total: 0,
    out_of_sequence_total: 0,
    rnr_nak_retry_err_total: 0,
    np_ecn_marked_roce_packets_total: bytes / 2900 / 200,
    rp_cnp_ignored_total: 0,
    rx_icrc_encapsulated_total: 0,
    tx_phy_bytes_total: bytes * 1.02,
    link_down_events_phy_total: 0,
    rx_discards_phy_total: 0,
    rx_crc_errors_phy_total: 0,
    rx_pcs_symbol_err_phy_total: 0,
    rx_corrected_bits_phy_total: 4250,
    rx_pause_seconds_total: 0.002,
    tx_pause_seconds_total: 0.002,
    carrier_changes_total: 0,
    effective_errors_total: 0,
  })
  made.of(ethtoolPriorityType, { device: netdev, priority: '0' }).rates.tx_bytes_total = bytes / 1000
  made.of(ethtoolPriorityType, { device: netdev, priority: '3' }).rates.tx_bytes_total = bytes
  return made
}

/** A PCIe link of Gen5 ×16, as fast as it can be and without errors. */
function linkAt(made: MadeDevice, device: string): void {
  Object.assign(made.of(pciDeviceType, { pci_address: device }).values, {
    current_link_speed_transfers_per_second: 32e9,
    max_link_speed_transfers_per_second: 32e9,
    current_link_width_lanes: 16,
    max_link_width_lanes: 16,
    current_link_bandwidth_bytes_per_second: 64e9,
    max_link_bandwidth_bytes_per_second: 64e9,
  })
  for (const [severity, error] of [
    ['correctable', 'BadTLP'],
    ['correctable', 'NonFatalErr'],
    ['nonfatal', 'CmpltTO'],
  ] as const)
    made.of(pciAerType, { pci_address: device, severity, error }).rates.errors_total = 0
}

/** An XID of a GPU, as the source tells it once it happened. */
export function tellXid(made: MadeDevice, xid: number): void {
  const gpu = made.device.id.replace('gpu-', '')
  made.of(nvmlXidType, { gpu, UUID: `GPU-${gpu}`, xid: String(xid) }).values.events_total = 1
}

/** Splits a GPU into MIG instances. */
export function splitGpu(made: MadeDevice, count: number): void {
  const gpu = made.device.id.replace('gpu-', '')
  made.set({ mig_mode: 1, gpu_util: undefined })
  for (let i = 0; i < count; i++)
    made.of(nvmlMigType, { gpu, UUID: `GPU-${gpu}`, GPU_I_ID: String(i), GPU_I_PROFILE: '1g.10gb' })
}

function deviceOf(
  id: string,
  kind: HintDevice['kind'],
  name: string,
  rail: number | null,
  pairs: readonly string[] = [],
): HintDevice {
  return { id, kind, name, rail, isSimulated: false, host: '', pairs, address: '', path: [], limits: {} }
}

function lookupOf(made: readonly MadeDevice[]): HintDeviceLookup {
  return {
    version: 1,
    own: () => made.map(({ device }) => device),
    deviceOf(type, labels) {
      const isIts = ({ series }: MadeDevice) =>
        [...series.values()].some(
          (one) => one.type === type && Object.entries(one.labels).every(([name, value]) => labels[name] === value),
        )
      return made.find(isIts)?.device
    },
  }
}
