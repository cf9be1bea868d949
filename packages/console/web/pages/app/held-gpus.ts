import type { LatestAnswer } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'

/** A GPU that a pod holds, and its MIG instance. The instance is empty for the whole GPU. */
export interface HeldGpu {
  readonly device: DeviceInfo
  readonly instance: string
}

/** Identifies a pod. */
export function namespacedPod({
  namespace = '',
  pod = '',
}: {
  readonly namespace?: string
  readonly pod?: string
}): string {
  return `${namespace}/${pod}`
}

/**
 * The GPUs of each pod that have a page, by {@link namespacedPod} and in order of their index. A GPU is listed once
 * even if several containers hold it. With series of `pod_gpu`, a pod without any GPU there holds none: an exporter
 * names it, and the kubelet does not.
 */
export function heldGpus(
  series: LatestAnswer['series'],
  devices: readonly DeviceInfo[],
): ReadonlyMap<string, readonly HeldGpu[]> {
  const byUuid = new Map(
    devices.flatMap((device): [string, DeviceInfo][] =>
      device.kind === 'gpu' && device.labels.UUID !== undefined ? [[device.labels.UUID, device]] : [],
    ),
  )
  const counts = new Map(
    series.flatMap(({ metric, labels, value }) =>
      metric === 'pod_gpus' ? [[namespacedPod(labels), Number(value)] as const] : [],
    ),
  )
  const isRefuted = (pod: string) => counts.size > 0 && !((counts.get(pod) ?? 0) > 0)
  const held = new Map<string, HeldGpu[]>()
  for (const { metric, labels } of series) {
    const device = metric === 'pod_device_present' ? byUuid.get(labels.UUID ?? '') : undefined
    if (device === undefined) continue
    const [key, instance] = [namespacedPod(labels), labels.GPU_I_ID ?? '']
    if (isRefuted(key)) continue
    const known = held.get(key) ?? []
    if (known.some((one) => one.device === device && one.instance === instance)) continue
    held.set(key, [...known, { device, instance }])
  }
  for (const gpus of held.values()) {
    gpus.sort((a, b) => indexOf(a) - indexOf(b) || a.instance.localeCompare(b.instance, 'en', { numeric: true }))
  }
  return held
}

function indexOf({ device }: HeldGpu): number {
  return Number(device.labels.gpu ?? Number.NaN) || 0
}
