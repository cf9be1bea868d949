import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { ALL_LINKS, CLOCK, MEMORY, UTILIZATION } from '../../native/nvml/layout.ts'

// The NVML call for each value of `nvml_gpu`.

const MEBIBYTE = 1_048_576n
const MW_PER_W = 1000

/** A value of a GPU, or why it is missing. */
export type FieldReading = number | bigint | NvmlFailure

/** Ids of `nvmlDeviceGetFieldValues`, by field of the type. One call reads all of them. */
const FIELD_IDS = {
  memory_temp: 82,
  power_usage_instant: 186,
  total_energy_consumption: 83,
  clocks_event_reason_sw_power_cap_ns: 74,
  clocks_event_reason_sync_boost_ns: 76,
  clocks_event_reason_sw_therm_slowdown_ns: 269,
  clocks_event_reason_hw_therm_slowdown_ns: 270,
  clocks_event_reason_hw_power_brake_slowdown_ns: 271,
  power_violation: 74,
  thermal_violation: 75,
  pcie_replay_counter: 94,
  ecc_sbe_vol_total: 3,
  ecc_dbe_vol_total: 4,
  ecc_sbe_agg_total: 5,
  ecc_dbe_agg_total: 6,
  correctable_remapped_rows: 142,
  uncorrectable_remapped_rows: 143,
  row_remap_pending: 144,
  row_remap_failure: 145,
  nvlink_crc_flit_error_count_total: 38,
  nvlink_crc_data_error_count_total: 45,
  nvlink_replay_error_count_total: 52,
  nvlink_recovery_error_count_total: 59,
  get_gpu_recovery_action: 230,
} as const

/** KiB sent and received over all links, the basis of `nvlink_bandwidth_total`. */
const LINK_COUNTERS = [138, 139].map((id) => ({ id, scope: ALL_LINKS }))

/** Conversion of NVML's value where the type has another unit. */
const SCALED: Readonly<Record<string, (value: number | bigint) => number | bigint>> = {
  power_usage_instant: (milliwatts) => Number(milliwatts) / MW_PER_W,
}

/** Values with their own call. The calls are fast after the fields were read. */
const CALLS: Readonly<Record<string, (gpu: GpuHandle) => FieldReading>> = {
  sm_clock: (gpu) => gpu.number('nvmlDeviceGetClockInfo', CLOCK.sm),
  mem_clock: (gpu) => gpu.number('nvmlDeviceGetClockInfo', CLOCK.memory),
  gpu_temp: (gpu) => gpu.number('nvmlDeviceGetTemperature', 0),
  power_usage: (gpu) => watts(gpu.number('nvmlDeviceGetPowerUsage')),
  enforced_power_limit: (gpu) => watts(gpu.number('nvmlDeviceGetEnforcedPowerLimit')),
  power_mgmt_limit: (gpu) => watts(gpu.number('nvmlDeviceGetPowerManagementLimit')),
  enc_util: (gpu) => first(gpu.numbers('nvmlDeviceGetEncoderUtilization')),
  dec_util: (gpu) => first(gpu.numbers('nvmlDeviceGetDecoderUtilization')),
  pstate: (gpu) => gpu.number('nvmlDeviceGetPerformanceState'),
  pcie_link_gen: (gpu) => gpu.number('nvmlDeviceGetCurrPcieLinkGeneration'),
  pcie_link_width: (gpu) => gpu.number('nvmlDeviceGetCurrPcieLinkWidth'),
  mig_mode: (gpu) => first(gpu.numbers('nvmlDeviceGetMigMode')),
  clocks_event_reasons: (gpu) =>
    gpu.number(
      gpu.library.has('nvmlDeviceGetCurrentClocksEventReasons')
        ? 'nvmlDeviceGetCurrentClocksEventReasons'
        : 'nvmlDeviceGetCurrentClocksThrottleReasons',
    ),
}

/** Values of calls that return several values. */
const GROUPS: readonly {
  readonly fields: readonly string[]
  readonly read: (gpu: GpuHandle) => readonly FieldReading[] | NvmlFailure
}[] = [
  {
    fields: ['gpu_util', 'mem_copy_util'],
    read: (gpu) => {
      const found = gpu.structure('nvmlDeviceGetUtilizationRates')
      if (found instanceof NvmlFailure) return found
      return [UTILIZATION.gpu, UTILIZATION.memory].map((at) => found.readUInt32LE(at))
    },
  },
  {
    fields: ['fb_total', 'fb_reserved', 'fb_free', 'fb_used'],
    read: (gpu) => {
      const found = gpu.structure('nvmlDeviceGetMemoryInfo_v2', MEMORY.version)
      if (found instanceof NvmlFailure) return found
      const { total, reserved, free, used } = MEMORY
      return [total, reserved, free, used].map((at) => Number(found.readBigUInt64LE(at) / MEBIBYTE))
    },
  },
]

const FIELDS = Object.entries(FIELD_IDS)
const WANTED = [...FIELDS.map(([, id]) => ({ id })), ...LINK_COUNTERS]

/** One reading of a GPU: values by field of `nvml_gpu`, and KiB that all links have moved so far. */
export interface GpuReading {
  readonly values: Record<string, FieldReading>
  readonly linkKib: bigint | NvmlFailure
}

/** Reads a GPU. Returns a failure if it does not answer. */
export async function readGpu(gpu: GpuHandle): Promise<GpuReading | NvmlFailure> {
  // Only the first call of a reading is slow and may hang; the other calls use data that the driver already has.
  const fields = await gpu.fields(WANTED)
  if (fields instanceof NvmlFailure) return fields
  const values: Record<string, FieldReading> = {}
  for (const [at, [name]] of FIELDS.entries()) {
    const found = fields[at] as FieldReading
    values[name] = found instanceof NvmlFailure ? found : (SCALED[name]?.(found) ?? found)
  }
  for (const [name, read] of Object.entries(CALLS)) values[name] = read(gpu)
  for (const { fields: names, read } of GROUPS) {
    const found = read(gpu)
    for (const [at, name] of names.entries())
      values[name] = found instanceof NvmlFailure ? found : (found[at] as FieldReading)
  }
  return { values, linkKib: sumOf(fields.slice(FIELDS.length)) }
}

function sumOf(counters: readonly FieldReading[]): bigint | NvmlFailure {
  let sum = 0n
  for (const found of counters) {
    if (found instanceof NvmlFailure) return found
    sum += BigInt(found)
  }
  return sum
}

/** Least time between two samples of GPM. Unit: milliseconds. */
export const GPM_APART_MS = 100

/** Ids of GPM by field of `nvml_profile`, with the factor of their unit. */
export const GPM_IDS: Readonly<Record<string, readonly [id: number, factor: number]>> = {
  gr_engine_active: [1, 0.01],
  sm_active: [2, 0.01],
  sm_occupancy: [3, 0.01],
  pipe_tensor_active: [5, 0.01],
  dram_active: [10, 0.01],
  pipe_fp64_active: [11, 0.01],
  pipe_fp32_active: [12, 0.01],
  pipe_fp16_active: [13, 0.01],
  pcie_tx_bytes: [20, Number(MEBIBYTE)],
  pcie_rx_bytes: [21, Number(MEBIBYTE)],
  nvlink_rx_bytes: [60, Number(MEBIBYTE)],
  nvlink_tx_bytes: [61, Number(MEBIBYTE)],
}

function watts(milliwatts: number | NvmlFailure): FieldReading {
  return milliwatts instanceof NvmlFailure ? milliwatts : milliwatts / MW_PER_W
}

function first(numbers: readonly [number, number] | NvmlFailure): FieldReading {
  return numbers instanceof NvmlFailure ? numbers : numbers[0]
}
