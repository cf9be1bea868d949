import {
  type History,
  type Labels,
  type QueryAnswer,
  type QueryRequest,
  type SeriesQuery,
  SondeError,
} from '@sonde/sdk'
import { GPU_FIELDS, type GpuField, type GpuPod, turn } from '@sonde/sdk/internal'
import { podMetric } from './fields.ts'
import { serviceMatchers } from './matchers.ts'

/** Rows are as they were at the last full second: a value holds for 2.5 of its periods. Unit: milliseconds. */
const STEP_MS = 1000
/** A pod that started later is warming: its numbers are not missed yet. Unit: milliseconds. */
const WARMING_MS = 90_000

/** Of the row of a service, which is made with those of its pods. */
const SERVICE_METRIC = 'app_gpu_pods'

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

/**
 * Asks a history for the GPU pods of an app, or of all, as they are now, of all services or of some: one request.
 *
 * @throws SondeError `APP_CAP` where they are too many for one answer.
 */
export async function podsNow(
  history: History,
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
  const pods = await podsOf(answer, nowMs)
  const chosen = services === undefined ? pods : pods.filter(({ service }) => services.includes(service))
  return { nowMs, pods: chosen, intervalMs }
}

/**
 * How far apart the samples of the rarest answer are: a mean that was learned may be a broken number, and a step may
 * not. Unit: whole milliseconds; 0 where it is not known.
 */
export function distanceOf({ results }: Pick<QueryAnswer, 'results'>): number {
  return Math.round(Math.max(0, ...results.map(({ resolutionMs }) => resolutionMs)))
}

/** Whether it is known of any pod which GPUs it asks for: then one that asks for none is known too. */
export async function anyAsks(history: History): Promise<boolean> {
  const query: SeriesQuery = {
    ...{ metric: 'pod_gpu_requested', function: 'last', matchers: [], by: [], aggregate: 'count' },
  }
  const { results } = await history.query(requestOfNow(Date.now(), [query]))
  return results.some(({ series }) => series.length > 0)
}

/** A request for the latest value of each series. */
export function requestOfNow(nowMs: number, queries: readonly SeriesQuery[]): QueryRequest {
  const toMs = Math.floor(nowMs / STEP_MS) * STEP_MS
  return { fromMs: toMs - STEP_MS, toMs, stepMs: STEP_MS, queries }
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
  /** When its row was made; undefined where the history does not tell. Unit: milliseconds since the Unix epoch. */
  rowMs: number | undefined
}

/**
 * The pods of an answer to all questions, by app, service, namespace and name. A history holds the last row of a pod
 * for a while; one that is older than the newest row of a service is of a pod that was gone when that was made. The
 * loop gets its turn in between: there may be ten thousand pods.
 */
async function podsOf({ results }: QueryAnswer, nowMs: number): Promise<AppPod[]> {
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
      const key = JSON.stringify([labels.app, labels.service, labels.namespace, labels.pod])
      let numbers = known.get(key)
      if (numbers === undefined) {
        numbers = { labels, byMetric: new Map(), rowMs: undefined }
        known.set(key, numbers)
      }
      numbers.byMetric.set(metric, value)
      if (metric === 'pod_gpu_count') numbers.rowMs = rowMs
    }
  }
  const isThere = ({ labels, rowMs = Number.POSITIVE_INFINITY }: Numbers) =>
    rowMs >= (newestMs.get(originOf(labels)) ?? 0)
  const inOrder = [...known].filter(([, numbers]) => isThere(numbers)).sort(([a], [b]) => (a < b ? -1 : 1))
  const pods: AppPod[] = []
  for (const [, numbers] of inOrder) {
    if (turn.isOver()) await turn.next()
    pods.push(podOf(numbers, nowMs))
  }
  return pods
}

/** Who made a row: rows of one agent are of the same times, and those of simulated pods have their own. */
function originOf({ app: _, service: _service, namespace: _namespace, pod: _pod, ...rest }: Labels): string {
  return JSON.stringify(Object.entries(rest).sort())
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
