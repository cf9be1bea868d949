import type { RecordType } from '@sonde/sdk'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType } from '../nvml/type.ts'

/** Destination of a metric: the field of a type, and the factor for its value. */
export interface DcgmTarget {
  readonly type: RecordType
  readonly field: string
  readonly factor: number
}

/** A field of DCGM. Its number is the same in all versions. */
export interface DcgmField {
  readonly id: number
  /** Names without `DCGM_FI_`: first the names of current exporters, then those of DCGM 4.6 and earlier. */
  readonly names: readonly string[]
  readonly target: DcgmTarget
  /** Destination for values of MIG instances; undefined if DCGM copies the value of the GPU to each instance. */
  readonly ofInstance: DcgmTarget | undefined
}

const MIG_FIELDS = new Set(nvmlMigType.layout.slots.filter(({ field }) => field.optional).map(({ name }) => name))

function fieldIn(type: RecordType, id: number, field: string, names: readonly string[], factor = 1): DcgmField {
  const ofInstance =
    type !== nvmlGpuInfoType && MIG_FIELDS.has(field) ? { type: nvmlMigType, field, factor } : undefined
  return { id, names, target: { type, field, factor }, ofInstance }
}

/** Makes a field. Its name and the `others` are in lower case, without the prefix `DEV_` or `PROF_`. */
function own(type: RecordType, id: number, field: string, ...others: string[]): DcgmField {
  const prefix = type === nvmlProfileType ? 'PROF_' : 'DEV_'
  return fieldIn(
    type,
    id,
    field,
    [field, ...others].map((name) => prefix + name.toUpperCase()),
  )
}

const gpu = (id: number, field: string, ...others: string[]) => own(nvmlGpuType, id, field, ...others)
const profile = (id: number, field: string, ...others: string[]) => own(nvmlProfileType, id, field, ...others)
const info = (id: number, field: string, name: string, factor = 1) =>
  fieldIn(nvmlGpuInfoType, id, field, [`DEV_${name.toUpperCase()}`], factor)

/** The fields of DCGM that are read, with their numbers from DCGM's header `dcgm_fields.h`. */
export const DCGM_FIELDS: readonly DcgmField[] = [
  gpu(67, 'mig_mode'),
  gpu(100, 'sm_clock'),
  gpu(101, 'mem_clock'),
  gpu(112, 'clocks_event_reasons', 'clock_throttle_reasons'),
  info(113, 'sm_clock_max_hertz', 'max_sm_clock', 1e6),
  info(114, 'memory_clock_max_hertz', 'max_mem_clock', 1e6),
  gpu(140, 'memory_temp', 'memory_temp_celsius'),
  gpu(150, 'gpu_temp', 'gpu_temp_celsius'),
  gpu(155, 'power_usage', 'board_power_watts'),
  gpu(156, 'total_energy_consumption'),
  gpu(157, 'power_usage_instant', 'board_power_raw_watts'),
  info(158, 'slowdown_celsius', 'slowdown_temp'),
  info(159, 'shutdown_celsius', 'shutdown_temp'),
  gpu(160, 'power_mgmt_limit', 'board_power_limit_requested_watts', 'power_limit_requested_watts'),
  info(161, 'power_limit_min_watts', 'power_mgmt_limit_min'),
  info(162, 'power_limit_max_watts', 'power_mgmt_limit_max'),
  info(163, 'power_limit_default_watts', 'power_mgmt_limit_def'),
  gpu(164, 'enforced_power_limit', 'board_power_limit_enforced_watts', 'power_limit_enforced_watts'),
  gpu(190, 'pstate', 'gpu_pstate'),
  gpu(202, 'pcie_replay_counter', 'pcie_replay_total'),
  gpu(203, 'gpu_util', 'gpu_util_ratio'),
  gpu(204, 'mem_copy_util', 'mem_copy_util_ratio'),
  gpu(206, 'enc_util', 'enc_util_ratio'),
  gpu(207, 'dec_util', 'dec_util_ratio'),
  gpu(230, 'xid_errors', 'xid_error'),
  info(235, 'pcie_generation_max', 'pcie_max_link_gen'),
  info(236, 'pcie_width_max_lanes', 'pcie_max_link_width'),
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
  gpu(393, 'uncorrectable_remapped_rows', 'row_remap_uncorrectable_total'),
  gpu(394, 'correctable_remapped_rows', 'row_remap_correctable_total'),
  gpu(395, 'row_remap_failure', 'row_remap_failed'),
  gpu(396, 'row_remap_pending'),
  gpu(409, 'nvlink_crc_flit_error_count_total', 'nvlink_crc_flit_error_total'),
  gpu(419, 'nvlink_crc_data_error_count_total', 'nvlink_crc_data_error_total'),
  gpu(429, 'nvlink_replay_error_count_total', 'nvlink_replay_error_total'),
  gpu(439, 'nvlink_recovery_error_count_total', 'nvlink_recovery_error_total'),
  gpu(449, 'nvlink_bandwidth_total', 'nvlink_throughput_total'),
  gpu(526, 'vgpu_license_status'),
  profile(1001, 'gr_engine_active', 'gr_engine_util_ratio'),
  profile(1002, 'sm_active', 'sm_util_ratio'),
  profile(1003, 'sm_occupancy', 'sm_occupancy_ratio'),
  profile(1004, 'pipe_tensor_active', 'tensor_util_ratio'),
  profile(1005, 'dram_active', 'dram_util_ratio'),
  profile(1006, 'pipe_fp64_active', 'fp64_util_ratio'),
  profile(1007, 'pipe_fp32_active', 'fp32_util_ratio'),
  profile(1008, 'pipe_fp16_active', 'fp16_util_ratio'),
  profile(1009, 'pcie_tx_bytes'),
  profile(1010, 'pcie_rx_bytes'),
  profile(1011, 'nvlink_tx_bytes'),
  profile(1012, 'nvlink_rx_bytes'),
  gpu(1420, 'clocks_event_reason_sw_power_cap_ns'),
  gpu(1421, 'clocks_event_reason_sync_boost_ns'),
  gpu(1422, 'clocks_event_reason_sw_therm_slowdown_ns'),
  gpu(1423, 'clocks_event_reason_hw_therm_slowdown_ns'),
  gpu(1424, 'clocks_event_reason_hw_power_brake_slowdown_ns'),
  gpu(1523, 'get_gpu_recovery_action', 'gpu_recovery_action'),
]

const BY_NAME: ReadonlyMap<string, DcgmField> = new Map(
  DCGM_FIELDS.flatMap((field) => field.names.map((name) => [`DCGM_FI_${name}`, field] as const)),
)

/** Returns the field of a metric, by any of its names. */
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

/** Returns the metric behind a field, under its current name; undefined if no exporter has it. */
function metricOf(type: RecordType, field: string): string | undefined {
  return METRIC_OF.get(`${type.name} ${field}`)
}

/** Explains why an exporter does not report a field. */
export function whyUntold(type: RecordType, field: string): string {
  const metric = metricOf(type, field)
  if (metric === undefined) return 'dcgm-exporter does not tell it'
  return `the exporter has no ${metric} of it; see its list of counters`
}
