import type { nvmlGpuType } from '../../nvml/type.ts'
import { GPU_QUANTITIES } from '../model/quantities.ts'
import type { GpuReader } from '../observe/gpu-reader.ts'
import { ORIGINS, rounded } from '../observe/origin.ts'
import type { Columns } from './column.ts'

/** Columns of the fields of `nvml_gpu` that change. */
export const NVML_GPU: Columns<typeof nvmlGpuType, GpuReader> = {
  gpu_util: (gpu) => percent(gpu, GPU_QUANTITIES.util),
  mem_copy_util: (gpu) => percent(gpu, GPU_QUANTITIES.memoryCopy),
  enc_util: 0,
  dec_util: 0,
  sm_clock: ({ segment, phase }) => segment.clocks[phase] as number,
  mem_clock: ({ model }) => model.memoryClockMHz,
  gpu_temp: ({ celsius }) => rounded(ORIGINS.temperature, celsius),
  memory_temp: ({ model, memoryCelsius }) =>
    model.hasMemoryTemperature ? rounded(ORIGINS.temperature, memoryCelsius) : Number.NaN,
  power_usage: ({ power }) => rounded(ORIGINS.power, power.mean(GPU_QUANTITIES.energyJ)),
  power_usage_instant: ({ powerInstant }) => rounded(ORIGINS.powerInstant, powerInstant.mean(GPU_QUANTITIES.energyJ)),
  enforced_power_limit: limitWatts,
  power_mgmt_limit: limitWatts,
  total_energy_consumption: ({ energy }) => Math.floor(1000 * energy.end(GPU_QUANTITIES.energyJ)),
  clocks_event_reasons: ({ segment, phase }) => segment.reasons[phase] as number,
  clocks_event_reason_sw_power_cap_ns: (gpu) => nanoseconds(gpu, GPU_QUANTITIES.powerCapS),
  clocks_event_reason_sync_boost_ns: 0,
  clocks_event_reason_sw_therm_slowdown_ns: (gpu) => nanoseconds(gpu, GPU_QUANTITIES.softThermalS),
  clocks_event_reason_hw_therm_slowdown_ns: (gpu) => nanoseconds(gpu, GPU_QUANTITIES.hardThermalS),
  clocks_event_reason_hw_power_brake_slowdown_ns: (gpu) => nanoseconds(gpu, GPU_QUANTITIES.brakeS),
  power_violation: (gpu) => nanoseconds(gpu, GPU_QUANTITIES.powerCapS),
  thermal_violation: (gpu) =>
    nanoseconds(gpu, GPU_QUANTITIES.softThermalS) + nanoseconds(gpu, GPU_QUANTITIES.hardThermalS),
  pstate: 0,
  fb_free: ({ model, usedMiB }) => model.memoryMiB - model.reservedMiB - usedMiB,
  fb_used: ({ usedMiB }) => usedMiB,
  pcie_link_gen: ({ pci }) => pci.generation,
  pcie_link_width: ({ pci }) => pci.lanes,
  // Retransmissions of the data link layer after broken or lost packets.
  pcie_replay_counter: (gpu) =>
    gpu.rare(2, 0.3) + gpu.pci.countOf('correctable/BadTLP') + gpu.pci.countOf('correctable/Timeout'),
  xid_errors: (gpu) => gpu.lastXid,
  ecc_sbe_vol_total: correctedErrors,
  ecc_dbe_vol_total: (gpu) => gpu.events('ecc_uncorrected'),
  ecc_sbe_agg_total: (gpu) => correctedErrors(gpu) + gpu.errorsBefore,
  ecc_dbe_agg_total: (gpu) => gpu.events('ecc_uncorrected') + (gpu.errorsBefore > 18 ? 1 : 0),
  uncorrectable_remapped_rows: (gpu) =>
    rows(gpu, gpu.events('row_remap_uncorrected') + (gpu.errorsBefore > 18 ? 1 : 0)),
  correctable_remapped_rows: (gpu) => rows(gpu, gpu.events('row_remap_corrected') + (gpu.errorsBefore > 15 ? 1 : 0)),
  row_remap_failure: ({ segment }) => (segment.effect.rowRemapFailure === undefined ? 0 : 1),
  row_remap_pending: ({ segment }) => (segment.effect.rowRemapPending === undefined ? 0 : 1),
  nvlink_crc_flit_error_count_total: (gpu) => nvlink(gpu, 3, 0.2),
  nvlink_crc_data_error_count_total: (gpu) => nvlink(gpu, 3, 0.2),
  nvlink_replay_error_count_total: (gpu) => nvlink(gpu, 4, 0.05),
  nvlink_recovery_error_count_total: (gpu) => nvlink(gpu, 4, 0.05),
  nvlink_bandwidth_total: ({ hasNvlink, profile }) =>
    hasNvlink
      ? Math.round((profile.mean(GPU_QUANTITIES.nvlinkTxBytes) + profile.mean(GPU_QUANTITIES.nvlinkRxBytes)) / 2 ** 20)
      : Number.NaN,
  vgpu_license_status: () => 0,
  mig_mode: ({ isSplit }) => (isSplit ? 1 : 0),
  get_gpu_recovery_action: ({ segment }) => segment.effect.recoveryAction ?? 0,
}

/** A GPU split by MIG has no utilisation. */
function percent({ use, isSplit }: GpuReader, share: number): number {
  return isSplit ? Number.NaN : rounded(ORIGINS.utilisation, 100 * Math.min(1, use.mean(share)))
}

function limitWatts({ segment, model }: GpuReader): number {
  return segment.effect.powerLimitWatts ?? model.powerLimitWatts
}

function nanoseconds({ energy }: GpuReader, seconds: number): number {
  return Math.floor(energy.end(seconds) * 1e6) * 1000
}

function correctedErrors(gpu: GpuReader): number {
  return Math.floor(gpu.live.end(GPU_QUANTITIES.correctedErrors)) + gpu.rare(1, 0.5) + gpu.events('ecc_corrected')
}

/** The driver does not report replaced rows of a GPU split by MIG. */
function rows({ isSplit }: GpuReader, count: number): number {
  return isSplit ? Number.NaN : count
}

function nvlink(gpu: GpuReader, stream: number, perDay: number): number {
  return gpu.hasNvlink ? gpu.rare(stream, perDay) : Number.NaN
}
