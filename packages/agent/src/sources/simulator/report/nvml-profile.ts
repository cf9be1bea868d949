import type { nvmlProfileType } from '../../nvml/type.ts'
import { PCIE_OVERHEAD } from '../model/pace.ts'
import { GPU, NIC } from '../model/quantities.ts'
import type { GpuReader } from '../observe/gpu-reader.ts'
import type { Columns } from './column.ts'

/** Columns of `nvml_profile`: means over the interval. */
export const NVML_PROFILE: Columns<typeof nvmlProfileType, GpuReader> = {
  gr_engine_active: ({ profile }) => profile.mean(GPU.engine),
  sm_active: ({ profile }) => profile.mean(GPU.sm),
  sm_occupancy: ({ profile }) => profile.mean(GPU.occupancy),
  pipe_tensor_active: ({ profile }) => profile.mean(GPU.tensor),
  dram_active: ({ profile }) => profile.mean(GPU.dram),
  pipe_fp64_active: ({ profile }) => profile.mean(GPU.fp64),
  pipe_fp32_active: ({ profile }) => profile.mean(GPU.fp32),
  pipe_fp16_active: ({ profile }) => profile.mean(GPU.fp16),
  pcie_tx_bytes: (gpu) => gpu.profile.mean(GPU.hostTxBytes) + PCIE_OVERHEAD * gpu.railBytesPerS(NIC.txData),
  pcie_rx_bytes: (gpu) => gpu.profile.mean(GPU.hostRxBytes) + PCIE_OVERHEAD * gpu.railBytesPerS(NIC.rxData),
  nvlink_tx_bytes: ({ hasNvlink, profile }) => (hasNvlink ? profile.mean(GPU.nvlinkTxBytes) : Number.NaN),
  nvlink_rx_bytes: ({ hasNvlink, profile }) => (hasNvlink ? profile.mean(GPU.nvlinkRxBytes) : Number.NaN),
}
