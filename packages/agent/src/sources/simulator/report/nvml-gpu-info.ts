import { hostname } from 'node:os'
import type { GpuPlace } from '../classes/node-class.ts'
import { deviceKey, STREAM, uniform } from '../model/hash.ts'
import { LIMITS } from '../model/heat.ts'

/** Labels of the series of a GPU. */
export function gpuLabels(seed: number, gpu: GpuPlace) {
  const { index, address, model } = gpu
  return {
    gpu: String(index),
    UUID: uuidOf(seed, gpu),
    device: `nvidia${index}`,
    modelName: model.name,
    Hostname: hostname(),
    // NVML writes the domain with eight digits, and hexadecimal digits in upper case.
    pci_bus_id: `0000${address}`.toUpperCase(),
  }
}

function uuidOf(seed: number, { index }: GpuPlace): string {
  const hex = (part: number) => Math.floor(uniform(seed, STREAM.device, deviceKey('gpu', index), 20 + part) * 2 ** 32)
  const text = [0, 1, 2, 3].map((part) => hex(part).toString(16).padStart(8, '0')).join('')
  return `GPU-${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`
}

/** Identity and limits of a GPU. */
export function infoOf({ index, model }: GpuPlace): Record<string, unknown> {
  const hasLinks = model.nvlinkLinks > 0
  return {
    serial: `16533230${(41_000 + index * 37).toString()}`,
    driver: '570.124.06',
    vbios: '96.00.A5.00.01',
    power_limit_max_watts: model.powerLimitWatts,
    power_limit_default_watts: model.powerLimitWatts,
    power_limit_min_watts: model.powerLimitMinWatts,
    memory_bytes: model.memoryMiB * 2 ** 20,
    multiprocessors: model.smCount,
    sm_clock_max_hertz: model.smClockMHz * 1e6,
    memory_clock_max_hertz: model.memoryClockMHz * 1e6,
    max_operating_celsius: LIMITS.soft,
    slowdown_celsius: LIMITS.hard,
    shutdown_celsius: LIMITS.shutdown,
    ...(model.hasMemoryTemperature ? { memory_max_operating_celsius: LIMITS.memory } : {}),
    pcie_generation_max: model.pcieGeneration,
    pcie_width_max_lanes: 16,
    ...(hasLinks ? { nvlink_links: model.nvlinkLinks, nvlink_speed_bytes_per_second: model.nvlinkBytesPerS } : {}),
  }
}
