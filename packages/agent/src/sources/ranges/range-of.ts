import type { Field, RecordType } from '@sonde/sdk'
import { QUANTITIES, type Quantity } from './quantities.ts'

type Name = keyof typeof QUANTITIES

/** The quantity of gauges by their unit. */
const BY_UNIT: Readonly<Record<string, Name>> = {
  percent: 'percent',
  ratio: 'ratio',
  celsius: 'temperature',
  watts: 'power',
  MHz: 'megahertz',
  hertz: 'hertz',
  bytes: 'memory',
  MiB: 'gpuMemory',
  'MiB/s': 'nvlinkMebibytes',
  bytes_per_second: 'linkSpeed',
  transfers_per_second: 'transferRate',
  volts: 'volts',
  amperes: 'amperes',
  dbm: 'opticalPower',
  db: 'noise',
  seconds: 'seconds',
}

/** The quantity of fields by type and field, for fields whose unit does not determine it. */
export const BY_FIELD: Readonly<Record<string, Readonly<Record<string, Name>>>> = {
  host_memory: { committed_bytes: 'promisedMemory', commit_limit_bytes: 'promisedMemory' },
  host_numa: { device_memory: 'flag' },
  host_clock: {
    ...{ synchronised: 'flag', offset_seconds: 'clockOffset', tai_offset_seconds: 'clockOffset' },
    frequency_adjustment_ratio: 'clockAdjustment',
  },
  host_failed_unit: { failed: 'flag' },
  host_temperature: { limit_celsius: 'temperatureLimit', critical_celsius: 'temperatureLimit' },
  host_thermal_zone: {
    ...{ passive_celsius: 'temperatureLimit', hot_celsius: 'temperatureLimit', critical_celsius: 'temperatureLimit' },
  },
  host_power: { cap_watts: 'powerLimit', limit_watts: 'powerLimit', critical_watts: 'powerLimit' },
  host_fan: { rpm: 'fanSpeed', minimum_rpm: 'fanSpeed', maximum_rpm: 'fanSpeed' },
  netdev: { up: 'flag', carrier: 'flag', mtu_bytes: 'packet' },
  ethtool_link: {
    ...{ detected: 'flag', full_duplex: 'flag', autonegotiation: 'flag' },
    lanes: 'lanes',
  },
  rdma_port: { width_lanes: 'lanes' },
  pci_device: {
    ...{ current_link_width_lanes: 'lanes', max_link_width_lanes: 'lanes', numa_node: 'numaNode' },
  },
  pci_sample: { current_link_width_lanes: 'lanes' },
  doca_pci: {
    ...{ power_limit_watts: 'slotPower', effective_bit_error_ratio: 'errorRate', fber_ratio: 'errorRate' },
    ...{ max_payload_bytes: 'packet', max_read_request_bytes: 'packet' },
  },
  doca_phy: {
    ...{ raw_bit_error_ratio: 'errorRate', effective_bit_error_ratio: 'errorRate', symbol_error_ratio: 'errorRate' },
    temperature_high_celsius: 'temperatureLimit',
  },
  doca_phy_lane: { raw_bit_error_ratio: 'errorRate' },
  doca_diag_sampling: { drain_cpu_ratio: 'cores' },
  nvml_gpu: {
    ...{ gpu_temp: 'gpuTemperature', memory_temp: 'gpuMemoryTemperature' },
    ...{ power_usage: 'gpuPower', power_usage_instant: 'gpuPower' },
    ...{ enforced_power_limit: 'gpuPowerLimit', power_mgmt_limit: 'gpuPowerLimit' },
    ...{ pcie_link_gen: 'pcieGeneration', pcie_link_width: 'lanes', pstate: 'performanceState', xid_errors: 'xid' },
    ...{ mig_mode: 'flag', row_remap_failure: 'flag', row_remap_pending: 'flag' },
  },
  nvml_gpu_info: {
    ...{ power_limit_max_watts: 'gpuPowerLimit', power_limit_default_watts: 'gpuPowerLimit' },
    ...{ power_limit_min_watts: 'gpuPowerLimit', memory_bytes: 'gpuMemoryBytes' },
    multiprocessors: 'multiprocessors',
    ...{ max_operating_celsius: 'temperatureLimit', memory_max_operating_celsius: 'temperatureLimit' },
    ...{ slowdown_celsius: 'temperatureLimit', shutdown_celsius: 'temperatureLimit' },
    ...{ pcie_generation_max: 'pcieGeneration', pcie_width_max_lanes: 'lanes' },
    ...{ nvlink_links: 'nvlinkLinks', nvlink_speed_bytes_per_second: 'nvlinkSpeed' },
  },
  nvml_vgpu: { memory_bytes: 'gpuMemoryBytes', memory_used_bytes: 'gpuMemoryBytes' },
  nvml_profile: {
    ...{ pcie_tx_bytes: 'pcieThroughput', pcie_rx_bytes: 'pcieThroughput' },
    ...{ nvlink_tx_bytes: 'nvlinkSpeed', nvlink_rx_bytes: 'nvlinkSpeed' },
  },
}

/** The range of integers by their kind. */
const BY_KIND: Readonly<Record<string, Quantity>> = {
  u8: bits(8, 0),
  u16: bits(16, 0),
  u32: bits(32, 0),
  i16: bits(16, 1),
}

function bits(count: number, sign: 0 | 1): Quantity {
  const words = `what ${count} bits hold`
  return { words, unit: '', least: sign * -(2 ** (count - 1)), most: 2 ** (count - sign) - 1 }
}

/** A field of a type with a range of values. */
export interface RangedField {
  readonly name: string
  readonly quantity: Quantity
  /** Whether a record may omit the field. */
  readonly isOptional: boolean
  /** Whether the field is a counter: counters of the kernel are whole numbers below 2^64. */
  readonly isCounter: boolean
}

const ranges = new WeakMap<RecordType, ReadonlyMap<string, RangedField>>()

/** The fields of a type with a range: counters, gauges of a physical quantity, and small integers. */
export function rangesOf(type: RecordType): ReadonlyMap<string, RangedField> {
  let fields = ranges.get(type)
  if (fields === undefined) {
    fields = new Map(
      type.layout.slots.flatMap(({ name, field }) => {
        const quantity = quantityOf(type.name, name, field)
        return quantity === undefined
          ? []
          : [[name, { name, quantity, isOptional: field.optional, isCounter: field.role === 'counter' }]]
      }),
    )
    ranges.set(type, fields)
  }
  return fields
}

function quantityOf(type: string, name: string, { role, unit = '', kind, count }: Field): Quantity | undefined {
  if (role === 'counter' && kind === 'u64') return QUANTITIES.count
  if ((role !== 'gauge' && role !== 'value') || count > 1) return undefined
  const quantity = BY_FIELD[type]?.[name] ?? BY_UNIT[unit]
  return quantity === undefined ? BY_KIND[kind] : QUANTITIES[quantity]
}
