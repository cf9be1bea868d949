import {
  type ExpectedPods,
  GPU_FIELDS,
  type GpuField,
  type GpuNumber,
  type GpuPod,
  type GpuService,
} from '@sonde/sdk/internal'

/** More of the pods that are not warming without utilisation, and the numbers are called partial. */
const PARTIAL_SHARE = 0.25

/** The services of pods, in the order of their names. */
export function servicesOf(pods: readonly GpuPod[]): GpuService[] {
  const byName = Map.groupBy(pods, ({ service }) => service)
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, ofService]) => serviceOf(name, ofService))
}

function serviceOf(name: string, pods: readonly GpuPod[]): GpuService {
  // An instance has no utilisation: that of its pod is not missing.
  const settled = pods.filter(({ isWarming, gpus, instances }) => !isWarming && (gpus === 0 || gpus > instances))
  const missing = settled.filter(({ values }) => values['gpu-util'] === null)
  const values = GPU_FIELDS.map((field) => [field, numberOver(pods, field)])
  return {
    name,
    pods: pods.length,
    gpus: gpusOf(pods),
    values: Object.fromEntries(values) as Record<GpuField, GpuNumber | null>,
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

/** One of the nine over the pods that have it; null where none has. */
function numberOver(pods: readonly GpuPod[], field: GpuField): GpuNumber | null {
  const numbers = pods.flatMap(({ values }) => values[field] ?? [])
  if (numbers.length === 0) return null
  const sum = numbers.reduce((total, number) => total + number, 0)
  return { avg: sum / numbers.length, min: Math.min(...numbers), max: Math.max(...numbers), count: numbers.length }
}

function gpusOf(pods: readonly GpuPod[]): number {
  return pods.reduce((sum, { gpus }) => sum + gpus, 0)
}
