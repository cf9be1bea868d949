import { GPU_FIELDS, type GpuField } from '@sonde/sdk/api'
import type { SeriesAnswer } from '@sonde/sdk/internal'
import { appMetric, podMetric } from '../apps/fields.ts'
import { isThere } from './gpu-columns.ts'
import { gpuCounts, gpuSharers, numberOfPod, type PodColumns } from './pod-columns.ts'

const FIELD_OF_POD: ReadonlyMap<string, GpuField> = new Map(GPU_FIELDS.map((field) => [podMetric(field), field]))
const FIELD_OF_APP = new Map(
  GPU_FIELDS.flatMap((field) =>
    (['avg', 'min', 'max', 'count'] as const).map((statistic) => [appMetric(field, statistic), { field, statistic }]),
  ),
)

/** The series of a pod metric, one for each pod that exists at some time of the window. */
export function podRows(metric: string, pods: readonly PodColumns[], length: number): SeriesAnswer[] {
  return pods.flatMap((pod) => {
    const values = valuesOf(metric, pod, length)
    if (values === undefined || values.every(Number.isNaN)) return []
    const { app, service, namespace, pod: name } = pod.workload
    return [{ labels: { app, service, namespace, pod: name }, values, resetsMs: [] }]
  })
}

function valuesOf(metric: string, pod: PodColumns, length: number): Float64Array | undefined {
  const field = FIELD_OF_POD.get(metric)
  if (field !== undefined) return numberOfPod(pod, field, length)
  if (metric === 'pod_gpus') return gpuCounts(pod, length, false)
  if (metric === 'pod_gpu_instances') return gpuCounts(pod, length, true)
  if (metric === 'pod_gpu_shared_with') return gpuSharers(pod, length)
  return pod.own.get(metric)
}

/** The series of a service metric: over the pods that have a number, computed for each time. */
export function appRows(metric: string, pods: readonly PodColumns[], length: number): SeriesAnswer[] {
  const services = Map.groupBy(pods, ({ workload: { app, service } }) => JSON.stringify([app, service]))
  return [...services.values()].flatMap((ofService) => {
    const values = serviceValues(metric, ofService, length)
    const [first] = ofService
    if (first === undefined || values === undefined || values.every(Number.isNaN)) return []
    const { app, service } = first.workload
    return [{ labels: { app, service }, values, resetsMs: [] }]
  })
}

function serviceValues(metric: string, pods: readonly PodColumns[], length: number): Float64Array | undefined {
  const counts = () => pods.map((pod) => gpuCounts(pod, length, false))
  if (metric === 'app_gpus') return distinctGpus(pods, length)
  if (metric === 'app_gpu_pods') return joined(counts(), length, (numbers) => numbers.length)
  const asked = FIELD_OF_APP.get(metric)
  if (asked === undefined) return undefined
  const columns = pods.map((pod) => numberOfPod(pod, asked.field, length))
  const { statistic } = asked
  if (statistic === 'min') return joined(columns, length, (numbers) => Math.min(...numbers))
  if (statistic === 'max') return joined(columns, length, (numbers) => Math.max(...numbers))
  if (statistic === 'count') return joined(columns, length, (numbers) => numbers.length)
  return joined(columns, length, (numbers) => sumOf(numbers) / numbers.length)
}

/** Distinct devices of some pods at each time; NaN if no pod exists. */
function distinctGpus(pods: readonly PodColumns[], length: number): Float64Array {
  const counts = pods.map((pod) => gpuCounts(pod, length, false))
  return Float64Array.from({ length }, (_, i) => {
    if (counts.every((column) => Number.isNaN(column[i]))) return Number.NaN
    const held = pods.flatMap(({ gpus }) => [...gpus].flatMap(([device, raws]) => (isThere(raws, i) ? [device] : [])))
    return new Set(held).size
  })
}

/** Combines at each time the columns that have a number then; NaN if none has. */
function joined(columns: readonly Float64Array[], length: number, how: (numbers: number[]) => number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    const numbers = columns.flatMap((values) => ((values[i] ?? Number.NaN) >= 0 ? [values[i] as number] : []))
    return numbers.length === 0 ? Number.NaN : how(numbers)
  })
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
