import {
  type ExpectedPods,
  GPU_FIELDS,
  type GpuField,
  type GpuNumber,
  type GpuPod,
  type GpuService,
} from '@sonde/sdk/api'
import type { AppPod } from './app-pod.ts'
import { distinct, heldCount, type SharedGpu, sharedGpuNumber } from './shared-gpus.ts'

/** Above this share of pods without utilisation, not counting warming pods, the numbers are marked partial. */
const PARTIAL_SHARE = 0.25

/** The services of pods, sorted by name. */
export function gpuServices(pods: readonly AppPod[], shared: readonly SharedGpu[]): GpuService[] {
  const byName = Map.groupBy(pods, ({ service }) => service)
  const byPod = Map.groupBy(shared, ({ pod }) => pod)
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, ofService]) => serviceOf(name, ofService, byPod))
}

function serviceOf(
  name: string,
  pods: readonly AppPod[],
  byPod: ReadonlyMap<string, readonly SharedGpu[]>,
): GpuService {
  // MIG instances have no utilisation, so it is not missing for their pods.
  const settled = pods.filter(({ isWarming, gpus, instances }) => !isWarming && (gpus === 0 || gpus > instances))
  const missing = settled.filter(isWithoutUse)
  const values = GPU_FIELDS.map((field) => [field, numberOver(pods, field)] as const)
  const devices = distinct(pods.flatMap(({ key }) => byPod.get(key) ?? []))
  const ofDevices = values.flatMap(([field, number]) => {
    const ofField = number === null ? sharedGpuNumber(devices, field) : null
    return ofField === null ? [] : [[field, ofField]]
  })
  const alone = pods.filter(({ key }) => !byPod.has(key))
  return {
    name,
    pods: pods.length,
    gpus: alone.reduce((sum, { gpus }) => sum + gpus, 0) + heldCount(devices),
    values: Object.fromEntries(values) as Record<GpuField, GpuNumber | null>,
    deviceValues: Object.fromEntries(ofDevices),
    expected: expectedOf(pods),
    warming: pods.filter(({ isWarming }) => isWarming).map(({ name }) => name),
    missing: missing.map(({ name }) => name),
    isPartial: missing.length / settled.length > PARTIAL_SHARE,
  }
}

function expectedOf(pods: readonly GpuPod[]): ExpectedPods | null {
  if (pods.every(({ requested }) => requested === null)) return null
  const asking = pods.filter(({ requested }) => (requested ?? 0) > 0)
  return {
    pods: asking.length,
    gpus: asking.reduce((sum, { requested }) => sum + (requested ?? 0), 0),
    seen: asking.filter(({ gpus }) => gpus > 0).length,
    missing: asking.filter(({ gpus }) => gpus === 0).map(({ name }) => name),
  }
}

/** One of the nine numbers over the pods that have it; null if none has. */
function numberOver(pods: readonly GpuPod[], field: GpuField): GpuNumber | null {
  const numbers = pods.flatMap(({ values }) => values[field] ?? [])
  if (numbers.length === 0) return null
  const sum = numbers.reduce((total, number) => total + number, 0)
  return { avg: sum / numbers.length, min: Math.min(...numbers), max: Math.max(...numbers), count: numbers.length }
}

/** Whether neither the pod nor the GPUs that it shares have a utilisation. */
function isWithoutUse({ values, deviceValues }: Pick<GpuPod, 'values' | 'deviceValues'>): boolean {
  return values['gpu-util'] === null && deviceValues['gpu-util'] === undefined
}
