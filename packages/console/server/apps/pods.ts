import { type Labels, SondeError } from '@sonde/sdk'
import { GPU_FIELDS, type GpuField, type PodName } from '@sonde/sdk/api'
import { type History, namespacedName, type QueryAnswer, type SeriesQuery, turn } from '@sonde/sdk/internal'
import type { AppPod, PodNumbers } from './app-pod.ts'
import { bySickness, conditionOf } from './condition.ts'
import { podMetric, shownNumber } from './fields.ts'
import { gapsOf } from './gaps.ts'
import { idlePods } from './idle.ts'
import { serviceMatchers } from './matchers.ts'
import { isOfSample, requestOfNow, rowMaker } from './now.ts'
import type { AppsOrigin } from './origin.ts'
import { reasonsOf } from './reasons.ts'
import { type SharedGpu, sharedOf, sharedPodKey, sharedQueries, valuesOfDevices } from './shared-gpus.ts'

/**
 * A pod that started less than this ago is warming: its numbers are not reported as missing yet. Unit: milliseconds.
 */
const WARMING_MS = 90_000

/** Metric of the row of a service, which is written together with the rows of its pods. */
const SERVICE_METRIC = 'app_gpu_pods'

/** Metrics of a pod besides the nine numbers. */
const MORE = [
  'pod_gpus',
  'pod_gpu_instances',
  'pod_gpu_shared_with',
  'pod_gpu_scheduled',
  'pod_gpu_requested_gpus',
  'pod_gpu_start_time_seconds',
  'pod_gpu_sample_age_seconds',
] as const

/** Current GPU pods, and how often they are sampled. */
export interface PodsNow {
  readonly nowMs: number
  /** The sickest first. */
  readonly pods: readonly AppPod[]
  /** Devices that these pods do not hold alone. */
  readonly shared: readonly SharedGpu[]
  /** Unit: milliseconds; 0 if unknown. */
  readonly intervalMs: number
}

/** Which pods and numbers are wanted. */
export interface PodsWanted {
  /** Default: all apps. */
  readonly app?: string | undefined
  /** Services of the app. Default: all. */
  readonly services?: readonly string[] | undefined
  /** Default: all pods. */
  readonly pod?: PodName
  /** Default: now. Unit: milliseconds since the Unix epoch. */
  readonly atMs?: number
  /** Default: all nine. */
  readonly fields?: readonly GpuField[]
}

/**
 * Queries a history for the current GPU pods of one or all apps, of some or all services: two requests, and a third if
 * pods share GPUs.
 *
 * @throws SondeError `APP_CAP` if there are too many for one answer.
 */
export async function podsNow(
  {
    history,
    latest,
    details,
    trouble,
    nodes,
  }: Pick<AppsOrigin, 'history' | 'latest' | 'details' | 'trouble' | 'nodes'>,
  { app, services, pod, atMs = Date.now(), fields = GPU_FIELDS }: PodsWanted = {},
): Promise<PodsNow> {
  const nowMs = atMs
  const ofService = app === undefined ? [] : serviceMatchers(app, services)
  const matchers = pod === undefined ? ofService : podMatchers(pod)
  const asked = [...fields.map(podMetric), ...MORE, SERVICE_METRIC]
  const queries = asked.map((metric): SeriesQuery => {
    const ofMetric = metric === SERVICE_METRIC ? ofService : matchers
    return { metric, function: 'last', matchers: ofMetric, by: undefined, aggregate: 'sum' }
  })
  const [answer, idle] = await Promise.all([
    history.query(requestOfNow(nowMs, queries)),
    idlePods(history, matchers, nowMs),
  ]).catch((error: unknown) => {
    throw tooManyPods(app, error)
  })
  const intervalMs = distanceOf(answer)
  const rows = await rowsOf(answer)
  const chosen = services === undefined ? rows : rows.filter(({ labels }) => services.includes(labels.service ?? ''))
  const isShared = ({ byMetric }: Numbers) =>
    (byMetric.get('pod_gpu_shared_with') ?? 0) > 0 || (byMetric.get('pod_gpu_instances') ?? 0) > 0
  const sharing = new Map(chosen.filter(isShared).map((row) => [sharedPodKey(row.labels), row]))
  const shared = sharing.size === 0 ? [] : await sharedGpus(history, sharedQueries(matchers, fields), nowMs)
  const ofSharing = shared.filter(({ pod, rowMs }) => {
    const row = sharing.get(pod)
    // Rows of a device remain for a while after the pod no longer shares it.
    return row !== undefined && isOfSample(rowMs, row.rowMs)
  })
  const byPod = Map.groupBy(ofSharing, ({ pod }) => pod)
  const numbers: PodNumbers[] = []
  for (const row of chosen) {
    if (turn.isOver()) await turn.next()
    numbers.push(podOf(row, byPod.get(sharedPodKey(row.labels)) ?? [], nowMs))
  }
  const reasons = await reasonsOf(numbers, latest)
  const detailsBy = await details?.()
  const troubles = trouble?.() ?? new Map()
  const own = nodes?.()
  const pods = numbers.map((pod) => {
    const known = detailsBy?.get(namespacedName(pod.namespace, pod.name))
    const node = known?.node ?? ''
    const isElsewhere = pod.gpus === 0 && node !== '' && own?.has(node) === false
    const isIdle = idle.has(pod.key)
    return {
      ...pod,
      gaps: gapsOf(pod, nowMs, {
        reasons: reasons.get(pod.key),
        elsewhere: isElsewhere ? node : '',
        waiting: known?.attribution.waiting ?? '',
      }),
      node,
      condition: conditionOf(pod, { nowMs, details: known, trouble: troubles, isIdle, isElsewhere }),
      attribution: known?.attribution ?? null,
    }
  })
  return { nowMs, pods: pods.sort(bySickness), shared: ofSharing, intervalMs }
}

/** Selects the series of one pod. */
export function podMatchers({ namespace, name }: PodName): SeriesQuery['matchers'] {
  return [
    { label: 'namespace', op: '=', value: namespace },
    { label: 'pod', op: '=', value: name },
  ]
}

async function sharedGpus(history: History, queries: SeriesQuery[], nowMs: number): Promise<SharedGpu[]> {
  return sharedOf(await history.query(requestOfNow(nowMs, queries)))
}

/**
 * The longest distance of samples in the answer. A learned mean may be a broken number and a step must not be, so it is
 * rounded. Unit: whole milliseconds; 0 if unknown.
 */
export function distanceOf({ results }: Pick<QueryAnswer, 'results'>): number {
  return Math.round(Math.max(0, ...results.map(({ resolutionMs }) => resolutionMs)))
}

/** Whether GPU requests are known for any pod. If so, a pod without a request requests no GPU. */
export async function anyAsks(history: History): Promise<boolean> {
  const query: SeriesQuery = {
    ...{ metric: 'pod_gpu_requested_gpus', function: 'last', matchers: [], by: [], aggregate: 'count' },
  }
  const { results } = await history.query(requestOfNow(Date.now(), [query]))
  return results.some(({ series }) => series.length > 0)
}

/** Errors of a history about too many series do not name an app. The caller can do something else about it. */
function tooManyPods(app: string | undefined, error: unknown): unknown {
  // QRY_BACKEND_LIMIT is not translated: a server may answer too much whatever pods there are.
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
  /** When each pod was sampled, if the history reports that. Unit: milliseconds since the Unix epoch. */
  readonly sampledMs: Map<string, number | undefined>
  /**
   * When its row was written; undefined if the history does not report that. Unit: milliseconds since the Unix epoch.
   */
  rowMs: number | undefined
}

/**
 * The rows of pods in an answer to all queries. A history repeats the last row of
 * a pod for a while. A row older than the newest row of its service belongs to a pod that was gone by then. The same
 * holds for each number: a number that the newest row lacks is unknown. The function yields to the event loop in
 * between, because there may be ten thousand pods.
 */
async function rowsOf({ results }: QueryAnswer): Promise<Numbers[]> {
  const known = new Map<string, Numbers>()
  const newestMs = new Map<string, number>()
  for (const { metric, series } of results) {
    for (const { labels, values, newestMs: rowMs } of series) {
      if (turn.isOver()) await turn.next()
      if (metric === SERVICE_METRIC) {
        const origin = rowMaker(labels)
        newestMs.set(origin, Math.max(rowMs ?? 0, newestMs.get(origin) ?? 0))
        continue
      }
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = sharedPodKey(labels)
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
    rowMs >= (newestMs.get(rowMaker(labels)) ?? 0)
  return [...known.values()].filter(isThere).map(withoutOld)
}

/** Removes the numbers that the newest row of the pod lacks. */
function withoutOld(numbers: Numbers): Numbers {
  for (const [metric, atMs] of numbers.sampledMs) if (!isOfSample(atMs, numbers.rowMs)) numbers.byMetric.delete(metric)
  return numbers
}

function podOf({ labels, byMetric }: Numbers, devices: readonly SharedGpu[], nowMs: number): PodNumbers {
  const numberOf = (metric: (typeof MORE)[number]) => byMetric.get(metric) ?? null
  const values = Object.fromEntries(
    GPU_FIELDS.map((field) => {
      const value = byMetric.get(podMetric(field))
      return [field, value === undefined ? null : shownNumber(field, value)]
    }),
  ) as Record<GpuField, number | null>
  const startedS = numberOf('pod_gpu_start_time_seconds')
  const ageS = numberOf('pod_gpu_sample_age_seconds')
  const scheduled = numberOf('pod_gpu_scheduled')
  const startedMs = startedS === null ? null : startedS * 1000
  const gpus = numberOf('pod_gpus') ?? 0
  return {
    key: sharedPodKey(labels),
    app: labels.app ?? '',
    namespace: labels.namespace ?? '',
    name: labels.pod ?? '',
    service: labels.service ?? '',
    gpus,
    instances: numberOf('pod_gpu_instances') ?? 0,
    sharedWith: numberOf('pod_gpu_shared_with') ?? 0,
    requested: numberOf('pod_gpu_requested_gpus'),
    // A pod that runs, or holds a device, has a node.
    isScheduled: gpus > 0 || startedMs !== null ? true : scheduled === null ? null : scheduled === 1,
    isWarming: startedMs !== null && nowMs - startedMs < WARMING_MS,
    startedMs,
    ageMs: ageS === null ? null : Math.round(ageS * 1000),
    values,
    deviceValues: valuesOfDevices(devices, values),
    isSimulated: labels.simulated === 'true',
  }
}
