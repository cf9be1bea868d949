import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { CLOCK, MEMORY, THRESHOLD } from '../../native/nvml/layout.ts'
import type { FieldReading } from './fields.ts'

const HERTZ_PER_MEGAHERTZ = 1_000_000
const MW_PER_W = 1000
/** Links of the largest GPU so far. */
const LINKS_MAX = 36

/** Properties and limits of a board. They are read once, because they change only with the driver or the board. */
export interface GpuInfo {
  readonly texts: Readonly<Record<'serial' | 'driver' | 'vbios', string>>
  readonly values: Readonly<Record<string, FieldReading>>
}

/** Reads the `nvml_gpu_info` of a GPU. */
export function infoOf(gpu: GpuHandle): GpuInfo {
  const limits = gpu.numbers('nvmlDeviceGetPowerManagementLimitConstraints')
  const [least, most] = limits instanceof NvmlFailure ? [limits, limits] : limits
  const memory = gpu.structure('nvmlDeviceGetMemoryInfo_v2', MEMORY.version)
  const memoryBytes = memory instanceof NvmlFailure ? memory : memory.readBigUInt64LE(MEMORY.total)
  const threshold = (which: number) => gpu.number('nvmlDeviceGetTemperatureThreshold', which)
  return {
    texts: {
      serial: textOr(gpu.text('nvmlDeviceGetSerial')),
      driver: driverOf(gpu),
      vbios: textOr(gpu.text('nvmlDeviceGetVbiosVersion')),
    },
    values: {
      power_limit_max_watts: times(most, 1 / MW_PER_W),
      power_limit_default_watts: times(gpu.number('nvmlDeviceGetPowerManagementDefaultLimit'), 1 / MW_PER_W),
      power_limit_min_watts: times(least, 1 / MW_PER_W),
      memory_bytes: memoryBytes,
      sm_clock_max_hertz: times(gpu.number('nvmlDeviceGetMaxClockInfo', CLOCK.sm), HERTZ_PER_MEGAHERTZ),
      memory_clock_max_hertz: times(gpu.number('nvmlDeviceGetMaxClockInfo', CLOCK.memory), HERTZ_PER_MEGAHERTZ),
      max_operating_celsius: threshold(THRESHOLD.gpuMax),
      slowdown_celsius: threshold(THRESHOLD.slowdown),
      shutdown_celsius: threshold(THRESHOLD.shutdown),
      memory_max_operating_celsius: threshold(THRESHOLD.memoryMax),
      pcie_generation_max: gpu.number('nvmlDeviceGetMaxPcieLinkGeneration'),
      pcie_width_max_lanes: gpu.number('nvmlDeviceGetMaxPcieLinkWidth'),
      nvlink_links: linksOf(gpu),
    },
  }
}

/** Number of active links, or the failure of the first link. */
function linksOf(gpu: GpuHandle): FieldReading {
  let links = 0
  for (let link = 0; link < LINKS_MAX; link++) {
    const state = gpu.number('nvmlDeviceGetNvLinkState', link)
    if (state instanceof NvmlFailure) return link === 0 ? state : links
    links += state
  }
  return links
}

function driverOf({ library }: GpuHandle): string {
  const memory = Buffer.alloc(256)
  const failure = library.call('the node', 'nvmlSystemGetDriverVersion', memory, memory.length / 2)
  return failure === undefined ? memory.toString('latin1', 0, memory.indexOf(0)) : ''
}

function textOr(text: string | NvmlFailure): string {
  return text instanceof NvmlFailure ? '' : text
}

function times(value: number | NvmlFailure, factor: number): FieldReading {
  // A division of whole milliwatts gives the nearest double.
  if (value instanceof NvmlFailure) return value
  return factor < 1 ? value / Math.round(1 / factor) : value * factor
}
