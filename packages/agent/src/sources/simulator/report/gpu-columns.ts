import { GPU_READ as G } from '../model/quantities.ts'
import { type Columns, constant, fraction, whole } from './column.ts'

/** How a record of `nvml_gpu` is filled. */
export const GPU_COLUMNS: Columns = {
  gpu_util: fraction(G.util),
  mem_copy_util: fraction(G.memoryCopy),
  enc_util: whole(G.codec),
  dec_util: whole(G.codec),
  sm_clock: whole(G.smClock),
  mem_clock: whole(G.memoryClock),
  gpu_temp: fraction(G.celsius),
  memory_temp: fraction(G.memoryCelsius),
  power_usage: fraction(G.power),
  power_usage_instant: fraction(G.powerInstant),
  enforced_power_limit: fraction(G.limit),
  power_mgmt_limit: fraction(G.limit),
  total_energy_consumption: whole(G.energyMj),
  clocks_event_reasons: whole(G.reasons),
  clocks_event_reason_sw_power_cap_ns: whole(G.powerCapNs),
  clocks_event_reason_sync_boost_ns: constant(0),
  clocks_event_reason_sw_therm_slowdown_ns: whole(G.softThermalNs),
  clocks_event_reason_hw_therm_slowdown_ns: whole(G.hardThermalNs),
  clocks_event_reason_hw_power_brake_slowdown_ns: whole(G.brakeNs),
  power_violation: whole(G.powerCapNs),
  thermal_violation: whole(G.thermalNs),
  pstate: whole(G.pstate),
  fb_free: whole(G.memoryFree),
  fb_used: whole(G.memoryUsed),
  pcie_link_gen: whole(G.linkGeneration),
  pcie_link_width: whole(G.linkWidth),
  pcie_replay_counter: whole(G.replays),
  xid_errors: whole(G.lastXid),
  ecc_sbe_vol_total: whole(G.correctedErrors),
  ecc_dbe_vol_total: whole(G.uncorrectedErrors),
  ecc_sbe_agg_total: whole(G.correctedAgg),
  ecc_dbe_agg_total: whole(G.uncorrectedAgg),
  uncorrectable_remapped_rows: whole(G.uncorrectedRows),
  correctable_remapped_rows: whole(G.correctedRows),
  row_remap_failure: whole(G.remapFailure),
  row_remap_pending: whole(G.remapPending),
  nvlink_crc_flit_error_count_total: whole(G.nvlinkCrc),
  nvlink_crc_data_error_count_total: whole(G.nvlinkCrc),
  nvlink_replay_error_count_total: whole(G.nvlinkReplays),
  nvlink_recovery_error_count_total: whole(G.nvlinkReplays),
  mig_mode: whole(G.mig),
  recovery_action: whole(G.recovery),
}

/** How a record of `nvml_profile` is filled. */
export const PROFILE_COLUMNS: Columns = {
  gr_engine_active: fraction(G.engine),
  sm_active: fraction(G.sm),
  sm_occupancy: fraction(G.occupancy),
  pipe_tensor_active: fraction(G.tensor),
  dram_active: fraction(G.dram),
  pipe_fp64_active: fraction(G.fp64),
  pipe_fp32_active: fraction(G.fp32),
  pipe_fp16_active: fraction(G.fp16),
  pcie_tx_bytes: fraction(G.pcieTx),
  pcie_rx_bytes: fraction(G.pcieRx),
  nvlink_tx_bytes: fraction(G.nvlinkTx),
  nvlink_rx_bytes: fraction(G.nvlinkRx),
}

/** How the parts of `pci_device` that change are filled from a GPU. */
export const GPU_PCI_COLUMNS: Columns = {
  current_link_speed_gigatransfers: fraction(G.linkTransfers),
  current_link_width_lanes: whole(G.linkWidth),
  current_link_bandwidth_bytes: fraction(G.linkBandwidth),
  aer_correctable_total: whole(G.aerCorrectable),
  aer_nonfatal_total: whole(G.aerNonfatal),
  aer_fatal_total: whole(G.aerFatal),
}
