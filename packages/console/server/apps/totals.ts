import type { GpuField, GpuSum, GpuTotals } from '@sonde/sdk/api'
import type { AppPod } from './app-pod.ts'
import { distinct, heldCount, type SharedGpu, sharedCount, sharedGpuNumber } from './shared-gpus.ts'

/**
 * Totals of the GPUs of some pods, each GPU counted once: a pod that shares no GPU counts by its row, the others by
 * their devices.
 */
export function totalsOf(pods: readonly AppPod[], shared: readonly SharedGpu[]): GpuTotals {
  const byPod = Map.groupBy(shared, ({ pod }) => pod)
  const alone = pods.filter(({ key }) => !byPod.has(key))
  const sharing = pods.filter(({ key }) => byPod.has(key))
  const devices = distinct(sharing.flatMap(({ key }) => byPod.get(key) ?? []))
  return {
    gpus: gpusOf(alone) + heldCount(devices),
    sharedGpus: sharedCount(devices),
    memoryUsedBytes: sumOf('gpu-mem-used'),
    powerW: sumOf('gpu-power-w'),
  }

  function sumOf(field: GpuField): GpuSum | null {
    const own = alone.flatMap(({ values }) => values[field] ?? [])
    // A device without the number leaves out only its own pods.
    const known = sharing.filter(({ key }) => sharedGpuNumber(byPod.get(key) ?? [], field) !== null)
    const together = distinct(known.flatMap(({ key }) => byPod.get(key) ?? []))
    const ofDevices = sharedGpuNumber(together, field)
    const count = own.length + (ofDevices === null ? 0 : known.length)
    if (count === 0) return null
    const sum = own.reduce((total, value) => total + value, 0)
    return {
      sum: sum + (ofDevices === null ? 0 : ofDevices.avg * ofDevices.count),
      pods: count,
      wholeGpus: together.filter(isWhole(field)).length,
    }
  }
}

/**
 * Whether the number of a device covers more than one pod: the number of a board, or of a device that several pods
 * hold.
 */
function isWhole(field: GpuField): (device: SharedGpu) => boolean {
  return ({ pods, values }) => pods !== 1 && values[field] !== undefined
}

function gpusOf(pods: readonly AppPod[]): number {
  return pods.reduce((sum, { gpus }) => sum + gpus, 0)
}
