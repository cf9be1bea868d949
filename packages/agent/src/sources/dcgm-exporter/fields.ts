import type { RecordType } from '@sonde/sdk'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType } from '../nvml/type.ts'

/** Where a metric goes: the field of a type, and what its value is multiplied with. */
export interface Target {
  readonly type: RecordType
  readonly field: string
  readonly factor: number
}

/** A field of DCGM, by its number, which is the same in all versions. */
export interface DcgmField {
  readonly id: number
  /** Its names, without `DCGM_FI_`: those that exporters write today first, then those of DCGM 4.6 and before. */
  readonly names: readonly string[]
  readonly target: Target
  /** Where the values of MIG instances go; undefined where DCGM has none, and copies those of the GPU to each. */
  readonly ofInstance: Target | undefined
}

const MIG_FIELDS = new Set(nvmlMigType.layout.slots.filter(({ field }) => field.optional).map(({ name }) => name))

function fieldIn(type: RecordType, id: number, field: string, names: readonly string[], factor = 1): DcgmField {
  const ofInstance =
    type !== nvmlGpuInfoType && MIG_FIELDS.has(field) ? { type: nvmlMigType, field, factor } : undefined
  return { id, names, target: { type, field, factor }, ofInstance }
}

/** A field whose name today is the end of the metric's. `others` are its other names, without `DEV_` or `PROF_`. */
function own(type: RecordType, id: number, field: string, ...others: string[]): DcgmField {
  const prefix = type === nvmlProfileType ? 'PROF_' : 'DEV_'
  return fieldIn(
    type,
    id,
    field,
    [field.toUpperCase(), ...others].map((name) => prefix + name),
  )
}

const gpu = (id: number, field: string, ...others: string[]) => own(nvmlGpuType, id, field, ...others)
const profile = (id: number, field: string, ...others: string[]) => own(nvmlProfileType, id, field, ...others)
const info = (id: number, field: string, name: string, factor = 1) =>
  fieldIn(nvmlGpuInfoType, id, field, [`DEV_${name}`], factor)

/** The fields of DCGM that are read, by their numbers; see DCGM's list of field identifiers. */
export const DCGM_FIELDS: readonly DcgmField[] = [
  gpu(67, 'mig_mode'),
  gpu(100, 'sm_clock'),
  gpu(101, 'mem_clock'),
  gpu(112, 'clocks_event_reasons', 'CLOCK_THROTTLE_REASONS'),
  info(113, 'sm_clock_max_hertz', 'MAX_SM_CLOCK', 1e6),
  info(114, 'memory_clock_max_hertz', 'MAX_MEM_CLOCK', 1e6),
  gpu(140, 'memory_temp', 'MEMORY_TEMP_CELSIUS'),
  gpu(150, 'gpu_temp', 'GPU_TEMP_CELSIUS'),
  gpu(155, 'power_usage', 'BOARD_POWER_WATTS'),
  gpu(156, 'total_energy_consumption'),
  gpu(157, 'power_usage_instant', 'BOARD_POWER_RAW_WATTS'),
  info(158, 'slowdown_celsius', 'SLOWDOWN_TEMP'),
  info(159, 'shutdown_celsius', 'SHUTDOWN_TEMP'),
  gpu(160, 'power_mgmt_limit', 'BOARD_POWER_LIMIT_REQUESTED_WATTS', 'POWER_LIMIT_REQUESTED_WATTS'),
  info(161, 'power_limit_min_watts', 'POWER_MGMT_LIMIT_MIN'),
  info(162, 'power_limit_watts', 'POWER_MGMT_LIMIT_MAX'),
  info(163, 'power_limit_default_watts', 'POWER_MGMT_LIMIT_DEF'),
  gpu(164, 'enforced_power_limit', 'BOARD_POWER_LIMIT_ENFORCED_WATTS', 'POWER_LIMIT_ENFORCED_WATTS'),
  gpu(190, 'pstate', 'GPU_PSTATE'),
  gpu(202, 'pcie_replay_counter', 'PCIE_REPLAY_TOTAL'),
  gpu(203, 'gpu_util', 'GPU_UTIL_RATIO'),
  gpu(204, 'mem_copy_util', 'MEM_COPY_UTIL_RATIO'),
  gpu(206, 'enc_util', 'ENC_UTIL_RATIO'),
  gpu(207, 'dec_util', 'DEC_UTIL_RATIO'),
  gpu(230, 'xid_errors', 'XID_ERROR'),
  info(235, 'pcie_generation_max', 'PCIE_MAX_LINK_GEN'),
  info(236, 'pcie_width_max', 'PCIE_MAX_LINK_WIDTH'),
  gpu(237, 'pcie_link_gen'),
  gpu(238, 'pcie_link_width'),
  gpu(240, 'power_violation'),
  gpu(241, 'thermal_violation'),
  gpu(250, 'fb_total'),
  gpu(251, 'fb_free'),
  gpu(252, 'fb_used'),
  gpu(253, 'fb_reserved'),
  gpu(310, 'ecc_sbe_vol_total'),
  gpu(311, 'ecc_dbe_vol_total'),
  gpu(312, 'ecc_sbe_agg_total'),
  gpu(313, 'ecc_dbe_agg_total'),
  gpu(393, 'uncorrectable_remapped_rows', 'ROW_REMAP_UNCORRECTABLE_TOTAL'),
  gpu(394, 'correctable_remapped_rows', 'ROW_REMAP_CORRECTABLE_TOTAL'),
  gpu(395, 'row_remap_failure', 'ROW_REMAP_FAILED'),
  gpu(396, 'row_remap_pending'),
  gpu(409, 'nvlink_crc_flit_error_count_total', 'NVLINK_CRC_FLIT_ERROR_TOTAL'),
  gpu(419, 'nvlink_crc_data_error_count_total', 'NVLINK_CRC_DATA_ERROR_TOTAL'),
  gpu(429, 'nvlink_replay_error_count_total', 'NVLINK_REPLAY_ERROR_TOTAL'),
  gpu(439, 'nvlink_recovery_error_count_total', 'NVLINK_RECOVERY_ERROR_TOTAL'),
  profile(1001, 'gr_engine_active', 'GR_ENGINE_UTIL_RATIO'),
  profile(1002, 'sm_active', 'SM_UTIL_RATIO'),
  profile(1003, 'sm_occupancy', 'SM_OCCUPANCY_RATIO'),
  profile(1004, 'pipe_tensor_active', 'TENSOR_UTIL_RATIO'),
  profile(1005, 'dram_active', 'DRAM_UTIL_RATIO'),
  profile(1006, 'pipe_fp64_active', 'FP64_UTIL_RATIO'),
  profile(1007, 'pipe_fp32_active', 'FP32_UTIL_RATIO'),
  profile(1008, 'pipe_fp16_active', 'FP16_UTIL_RATIO'),
  profile(1009, 'pcie_tx_bytes'),
  profile(1010, 'pcie_rx_bytes'),
  profile(1011, 'nvlink_tx_bytes'),
  profile(1012, 'nvlink_rx_bytes'),
  gpu(1420, 'clocks_event_reason_sw_power_cap_ns'),
  gpu(1421, 'clocks_event_reason_sync_boost_ns'),
  gpu(1422, 'clocks_event_reason_sw_therm_slowdown_ns'),
  gpu(1423, 'clocks_event_reason_hw_therm_slowdown_ns'),
  gpu(1424, 'clocks_event_reason_hw_power_brake_slowdown_ns'),
]

const BY_NAME: ReadonlyMap<string, DcgmField> = new Map(
  DCGM_FIELDS.flatMap((field) => field.names.map((name) => [`DCGM_FI_${name}`, field] as const)),
)

/** The field that a metric is of, by any of its names. */
export function dcgmField(metric: string): DcgmField | undefined {
  return BY_NAME.get(metric)
}

const METRIC_OF: ReadonlyMap<string, string> = new Map(
  DCGM_FIELDS.flatMap(({ names: [name], target, ofInstance }) =>
    [target, ...(ofInstance === undefined ? [] : [ofInstance])].map(
      ({ type, field }) => [`${type.name} ${field}`, `DCGM_FI_${name}`] as const,
    ),
  ),
)

/** The metric that a field comes from, as exporters write it today; undefined where no exporter has it. */
export function metricOf(type: RecordType, field: string): string | undefined {
  return METRIC_OF.get(`${type.name} ${field}`)
}
