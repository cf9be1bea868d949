import { type Labels, SondeError } from '@sonde/sdk'
import { GPU_FIELDS, type GpuField } from '@sonde/sdk/api'
import { type History, type QueryAnswer, type SeriesQuery, turn } from '@sonde/sdk/internal'
import type { AppPod } from './app-pod.ts'
import { podMetric } from './fields.ts'
import { gapsOf } from './gaps.ts'
import { serviceMatchers } from './matchers.ts'
import { isOfSample, originOf, requestOfNow } from './now.ts'
import type { AppsOrigin } from './origin.ts'
import { reasonsOf } from './reasons.ts'
import { podKey, type SharedGpu, sharedOf, sharedQueries, valuesOfDevices } from './shared-gpus.ts'

/** A pod that started later is warming: its numbers are not missed yet. Unit: milliseconds. */
const WARMING_MS = 90_000

/** Of the row of a service, which is made with those of its pods. */
const SERVICE_METRIC = 'app_gpu_pods'

/** Metrics of a pod beside the nine. */
const MORE = [
  'pod_gpus',
  'pod_gpu_instances',
  'pod_gpu_shared_with',
  'pod_gpu_scheduled',
  'pod_gpu_requested_gpus',
  'pod_gpu_start_time_seconds',
  'pod_gpu_sample_age_seconds',
] as const

/** GPU pods as they are now, and how often they are sampled. */
export interface PodsNow {
  readonly nowMs: number
  readonly pods: readonly AppPod[]
  /** Devices of these pods that are not one pod's alone. */
  readonly shared: readonly SharedGpu[]
  /** Unit: milliseconds; 0 if it is not known. */
  readonly intervalMs: number
}

/**
 * Asks a history for the GPU pods of an app, or of all, as they are now, of all services or of some: one request, and
 * another where pods share GPUs.
 *
 * @throws SondeError `APP_CAP` if they are too many for one answer.
 */
export async function podsNow(
  { history, latest }: Pick<AppsOrigin, 'history' | 'latest'>,
  app: string | undefined,
  services?: readonly string[],
): Promise<PodsNow> {
  const nowMs = Date.now()
  const matchers = app === undefined ? [] : serviceMatchers(app, services)
  const asked = [...GPU_FIELDS.map(podMetric), ...MORE, SERVICE_METRIC]
  const queries = asked.map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
  })
  const answer = await history.query(requestOfNow(nowMs, queries)).catch((error: unknown) => {
    throw tooManyPods(app, error)
  })
  const intervalMs = distanceOf(answer)
  const rows = await rowsOf(answer)
  const chosen = services === undefined ? rows : rows.filter(({ labels }) => services.includes(labels.service ?? ''))
  const isShared = ({ byMetric }: Numbers) =>
    (byMetric.get('pod_gpu_shared_with') ?? 0) > 0 || (byMetric.get('pod_gpu_instances') ?? 0) > 0
  const sharing = new Map(chosen.filter(isShared).map((row) => [podKey(row.labels), row]))
  const shared = sharing.size === 0 ? [] : await sharedGpus(history, sharedQueries(matchers, GPU_FIELDS), nowMs)
  const ofSharing = shared.filter(({ pod, rowMs }) => {
    const row = sharing.get(pod)
    // Rows of devices that a pod shares no more stay for a while.
    return row !== undefined && isOfSample(rowMs, row.rowMs)
  })
  const byPod = Map.groupBy(ofSharing, ({ pod }) => pod)
  const pods: Omit<AppPod, 'gaps'>[] = []
  for (const row of chosen) {
    if (turn.isOver()) await turn.next()
    pods.push(podOf(row, byPod.get(podKey(row.labels)) ?? [], nowMs))
  }
  const reasons = await reasonsOf(pods, latest)
  const told = pods.map((pod) => ({ ...pod, gaps: gapsOf(pod, nowMs, reasons.get(pod.key)) }))
  return { nowMs, pods: told, shared: ofSharing, intervalMs }
}

async function sharedGpus(history: History, queries: SeriesQuery[], nowMs: number): Promise<SharedGpu[]> {
  return sharedOf(await history.query(requestOfNow(nowMs, queries)))
}

/**
 * How far apart the samples of the rarest answer are: a mean that was learned may be a broken number, and a step may
 * not. Unit: whole milliseconds; 0 if it is not known.
 */
export function distanceOf({ results }: Pick<QueryAnswer, 'results'>): number {
  return Math.round(Math.max(0, ...results.map(({ resolutionMs }) => resolutionMs)))
}

/** Whether it is known of any pod which GPUs it asks for: then one that asks for none is known too. */
export async function anyAsks(history: History): Promise<boolean> {
  const query: SeriesQuery = {
    ...{ metric: 'pod_gpu_requested_gpus', function: 'last', matchers: [], by: [], aggregate: 'count' },
  }
  const { results } = await history.query(requestOfNow(Date.now(), [query]))
  return results.some(({ series }) => series.length > 0)
}

/** What a history says of too many series names no app: who asks can do something else about it. */
function tooManyPods(app: string | undefined, error: unknown): unknown {
  // Not QRY_BACKEND_LIMIT: a server may answer with too much whatever pods there are.
  const isLimit = error instanceof SondeError && ['QRY_SERIES_LIMIT', 'QRY_COST_LIMIT'].includes(error.code)
  if (!isLimit) return error
  const sentence =
    `${app === undefined ? 'all apps together have' : `app ${app} has`} more GPU pods than one answer holds ` +
    '(10000, or fewer with long names); ask for some of its services with services=a,b, or for numbers a service with metrics-by-service'
  return new SondeError('APP_CAP', sentence, { cause: error })
}

interface Numbers {
  readonly labels: Labels
  readonly byMetric: Map<string, number>
  /** When each of them was sampled, where the history tells it. Unit: milliseconds since the Unix epoch. */
  readonly sampledMs: Map<string, number | undefined>
  /** When its row was made; undefined if the history does not tell. Unit: milliseconds since the Unix epoch. */
  rowMs: number | undefined
}

/**
 * The rows of pods in an answer to all questions, by app, service, namespace and name. A history holds the last row of
 * a pod for a while; one that is older than the newest row of a service is of a pod that was gone when that was made.
 * It holds each number of a row likewise: a number that the newest row lacks is not known any more. The loop gets its
 * turn in between: there may be ten thousand pods.
 */
async function rowsOf({ results }: QueryAnswer): Promise<Numbers[]> {
  const known = new Map<string, Numbers>()
  const newestMs = new Map<string, number>()
  for (const { metric, series } of results) {
    for (const { labels, values, newestMs: rowMs } of series) {
      if (turn.isOver()) await turn.next()
      if (metric === SERVICE_METRIC) {
        const origin = originOf(labels)
        newestMs.set(origin, Math.max(rowMs ?? 0, newestMs.get(origin) ?? 0))
        continue
      }
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = podKey(labels)
      let numbers = known.get(key)
      if (numbers === undefined) {
        numbers = { labels, byMetric: new Map(), sampledMs: new Map(), rowMs: undefined }
        known.set(key, numbers)
      }
      numbers.byMetric.set(metric, value)
      numbers.sampledMs.set(metric, rowMs)
      if (metric === 'pod_gpus') numbers.rowMs = rowMs
    }
  }
  const isThere = ({ labels, rowMs = Number.POSITIVE_INFINITY }: Numbers) =>
    rowMs >= (newestMs.get(originOf(labels)) ?? 0)
  const there = [...known].filter(([, numbers]) => isThere(numbers)).sort(([a], [b]) => (a < b ? -1 : 1))
  return there.map(([, numbers]) => withoutOld(numbers))
}

/** Without the numbers that the newest row of the pod lacks. */
function withoutOld(numbers: Numbers): Numbers {
  for (const [metric, atMs] of numbers.sampledMs) if (!isOfSample(atMs, numbers.rowMs)) numbers.byMetric.delete(metric)
  return numbers
}

function podOf({ labels, byMetric }: Numbers, devices: readonly SharedGpu[], nowMs: number): Omit<AppPod, 'gaps'> {
  const numberOf = (metric: (typeof MORE)[number]) => byMetric.get(metric) ?? null
  const values = Object.fromEntries(
    GPU_FIELDS.map((field) => [field, byMetric.get(podMetric(field)) ?? null]),
  ) as Record<GpuField, number | null>
  const startedS = numberOf('pod_gpu_start_time_seconds')
  const ageS = numberOf('pod_gpu_sample_age_seconds')
  const scheduled = numberOf('pod_gpu_scheduled')
  const startedMs = startedS === null ? null : startedS * 1000
  const gpus = numberOf('pod_gpus') ?? 0
  return {
    key: podKey(labels),
    app: labels.app ?? '',
    namespace: labels.namespace ?? '',
    name: labels.pod ?? '',
    service: labels.service ?? '',
    gpus,
    instances: numberOf('pod_gpu_instances') ?? 0,
    sharedWith: numberOf('pod_gpu_shared_with') ?? 0,
    requested: numberOf('pod_gpu_requested_gpus'),
    // What runs, or holds a device, has a node.
    isScheduled: gpus > 0 || startedMs !== null ? true : scheduled === null ? null : scheduled === 1,
    isWarming: startedMs !== null && nowMs - startedMs < WARMING_MS,
    startedMs,
    ageMs: ageS === null ? null : Math.round(ageS * 1000),
    values,
    deviceValues: valuesOfDevices(devices, values),
    isSimulated: labels.simulated === 'true',
  }
}
