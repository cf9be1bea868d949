import type { SeriesAnswer } from '@sonde/sdk/internal'
import { BOARD_FIELDS, sharedFieldOf } from '../apps/fields.ts'
import { type DeviceTable, type GpuDeviceColumns, holderCounts, isThere, numberOfDevice } from './gpu-columns.ts'
import type { PodColumns } from './pod-columns.ts'

/** A device of a pod, or the board of an instance that it holds. */
interface Shared {
  readonly device: GpuDeviceColumns
  readonly isBoard: boolean
}

/**
 * The series of a metric of shared devices: one for each device and each pod that holds it at that time.
 */
export function sharedRows(
  metric: string,
  pods: readonly PodColumns[],
  devices: DeviceTable,
  length: number,
): SeriesAnswer[] {
  return pods.flatMap((pod) => {
    const isSharing = Array.from({ length }, (_, i) => sharesAt(pod, i, length))
    if (!isSharing.includes(true)) return []
    const held = [...pod.gpus.keys()]
    const boards = new Set(held.flatMap((device) => (device.instance === '' ? [] : [devices.boardOf(device)])))
    const shared: Shared[] = [
      ...held.map((device) => ({ device, isBoard: false })),
      ...[...boards].filter((board) => !pod.gpus.has(board)).map((device) => ({ device, isBoard: true })),
    ]
    return shared.flatMap((one) => {
      const values = Float64Array.from({ length }, (_, i) =>
        isSharing[i] === true && isHeldAt(pod, one, i) ? numberFor(metric, one, i, length) : Number.NaN,
      )
      return values.every(Number.isNaN) ? [] : [{ labels: labelsOf(pod, one.device), values, resetsMs: [] }]
    })
  })
}

function sharesAt({ gpus }: PodColumns, i: number, length: number): boolean {
  for (const [device, held] of gpus) {
    if (!isThere(held, i)) continue
    if (device.instance !== '' || (holderCounts(device, length)[i] ?? 0) > 1) return true
  }
  return false
}

function isHeldAt({ gpus }: PodColumns, { device, isBoard }: Shared, i: number): boolean {
  if (isBoard)
    return [...gpus].some(
      ([{ host, uuid, instance }, held]) =>
        instance !== '' && uuid === device.uuid && host === device.host && isThere(held, i),
    )
  const held = gpus.get(device)
  return held !== undefined && isThere(held, i)
}

function numberFor(metric: string, { device, isBoard }: Shared, i: number, length: number): number {
  if (metric === 'shared_gpu_pods') return isBoard ? 0 : (holderCounts(device, length)[i] ?? 0)
  const field = sharedFieldOf(metric)
  if (field === undefined || (isBoard && !BOARD_FIELDS.has(field))) return Number.NaN
  return numberOfDevice(device, field, i)
}

function labelsOf({ workload }: PodColumns, { host, uuid, instance }: GpuDeviceColumns): Record<string, string> {
  const { app, service, namespace, pod } = workload
  return { app, service, namespace, pod, Hostname: host, UUID: uuid, GPU_I_ID: instance }
}
