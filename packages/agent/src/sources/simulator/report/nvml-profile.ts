import type { nvmlProfileType } from '../../nvml/type.ts'
import { PCIE_OVERHEAD } from '../model/pace.ts'
import { GPU_QUANTITIES, NIC_QUANTITIES } from '../model/quantities.ts'
import type { GpuReader } from '../observe/gpu-reader.ts'
import type { Columns } from './column.ts'

/** Columns of `nvml_profile`: means over the interval. */
export const NVML_PROFILE: Columns<typeof nvmlProfileType, GpuReader> = {
  gr_engine_active: ({ profile }) => profile.mean(GPU_QUANTITIES.engine),
  sm_active: ({ profile }) => profile.mean(GPU_QUANTITIES.sm),
  sm_occupancy: ({ profile }) => profile.mean(GPU_QUANTITIES.occupancy),
  pipe_tensor_active: ({ profile }) => profile.mean(GPU_QUANTITIES.tensor),
  dram_active: ({ profile }) => profile.mean(GPU_QUANTITIES.dram),
  pipe_fp64_active: ({ profile }) => profile.mean(GPU_QUANTITIES.fp64),
  pipe_fp32_active: ({ profile }) => profile.mean(GPU_QUANTITIES.fp32),
  pipe_fp16_active: ({ profile }) => profile.mean(GPU_QUANTITIES.fp16),
  pcie_tx_bytes: (gpu) =>
    gpu.profile.mean(GPU_QUANTITIES.hostTxBytes) +
    PCIE_OVERHEAD * gpu.railBytesPerS(NIC_QUANTITIES.txData, NIC_QUANTITIES.txUnguardedData),
  pcie_rx_bytes: (gpu) =>
    gpu.profile.mean(GPU_QUANTITIES.hostRxBytes) + PCIE_OVERHEAD * gpu.railBytesPerS(NIC_QUANTITIES.rxData),
  nvlink_tx_bytes: ({ hasNvlink, profile }) => (hasNvlink ? profile.mean(GPU_QUANTITIES.nvlinkTxBytes) : Number.NaN),
  nvlink_rx_bytes: ({ hasNvlink, profile }) => (hasNvlink ? profile.mean(GPU_QUANTITIES.nvlinkRxBytes) : Number.NaN),
}
