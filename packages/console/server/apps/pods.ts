import type { History, Labels, Matcher, QueryAnswer, SeriesQuery } from '@sonde/sdk'
import { GPU_FIELDS, type GpuField, type GpuPod } from '@sonde/sdk/internal'
import { podMetric } from './fields.ts'

/** Rows are as they were at the last full second: a value holds for 2.5 of its periods. Unit: milliseconds. */
const STEP_MS = 1000
/** A pod that started later is warming: its numbers are not missed yet. Unit: milliseconds. */
const WARMING_MS = 90_000

/** Metrics of a pod beside the nine. */
const MORE = [
  'pod_gpu_count',
  'pod_gpu_instances',
  'pod_gpu_requested',
  'pod_gpu_started_seconds',
  'pod_gpu_sample_age_seconds',
] as const

/** GPU pods as they are now, and how often they are sampled. */
export interface PodsNow {
  readonly nowMs: number
  readonly pods: readonly AppPod[]
  /** Unit: milliseconds; 0 where it is not known. */
  readonly intervalMs: number
}

/** A GPU pod, and the app that it belongs to. */
export interface AppPod extends GpuPod {
  readonly app: string
}

/** Asks a history for the GPU pods of now, of all apps or of one: one request, whatever there is. */
export async function podsNow(history: History, app?: string): Promise<PodsNow> {
  const nowMs = Date.now()
  const matchers: Matcher[] = app === undefined ? [] : [{ label: 'app', op: '=', value: app }]
  const asked = [...GPU_FIELDS.map(podMetric), ...MORE]
  const queries = asked.map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
  })
  const toMs = Math.floor(nowMs / STEP_MS) * STEP_MS
  const answer = await history.query({ fromMs: toMs - STEP_MS, toMs, stepMs: STEP_MS, queries })
  const intervalMs = Math.max(0, ...answer.results.map(({ resolutionMs }) => resolutionMs))
  return { nowMs, pods: podsOf(answer, nowMs), intervalMs }
}

interface Numbers {
  readonly labels: Labels
  readonly byMetric: Map<string, number>
}

/** The pods of an answer to all questions, by app, service, namespace and name. */
function podsOf({ results }: QueryAnswer, nowMs: number): AppPod[] {
  const known = new Map<string, Numbers>()
  for (const { metric, series } of results) {
    for (const { labels, values } of series) {
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = JSON.stringify([labels.app, labels.service, labels.namespace, labels.pod])
      let numbers = known.get(key)
      if (numbers === undefined) {
        numbers = { labels, byMetric: new Map() }
        known.set(key, numbers)
      }
      numbers.byMetric.set(metric, value)
    }
  }
  const inOrder = [...known].sort(([a], [b]) => (a < b ? -1 : 1))
  return inOrder.map(([, numbers]) => podOf(numbers, nowMs))
}

function podOf({ labels, byMetric }: Numbers, nowMs: number): AppPod {
  const numberOf = (metric: (typeof MORE)[number]) => byMetric.get(metric) ?? null
  const values = GPU_FIELDS.map((field) => [field, byMetric.get(podMetric(field)) ?? null])
  const startedS = numberOf('pod_gpu_started_seconds')
  const ageS = numberOf('pod_gpu_sample_age_seconds')
  const startedMs = startedS === null ? null : startedS * 1000
  return {
    app: labels.app ?? '',
    namespace: labels.namespace ?? '',
    name: labels.pod ?? '',
    service: labels.service ?? '',
    gpus: numberOf('pod_gpu_count') ?? 0,
    instances: numberOf('pod_gpu_instances') ?? 0,
    requested: numberOf('pod_gpu_requested'),
    isWarming: startedMs !== null && nowMs - startedMs < WARMING_MS,
    startedMs,
    ageMs: ageS === null ? null : Math.round(ageS * 1000),
    values: Object.fromEntries(values) as Record<GpuField, number | null>,
    isSimulated: labels.simulated === 'true',
  }
}
