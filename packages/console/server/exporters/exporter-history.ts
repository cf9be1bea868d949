import { SondeError } from '@sonde/sdk'
import { GPU_FIELDS, type PodDetails, type Scraper } from '@sonde/sdk/api'
import {
  aggregateSeries,
  type Catalogue,
  countOf,
  gridOf,
  type History,
  type LatestSeries,
  type ListedType,
  labelOf,
  levelsOf,
  matcherOf,
  messageOf,
  type QueryAnswer,
  type QueryRequest,
  type QueryResult,
  type SeriesAnswer,
  type SeriesQuery,
} from '@sonde/sdk/internal'
import { appMetric, podMetric, sharedMetric } from '../apps/fields.ts'
import { requestOfNow } from '../apps/now.ts'
import type { ReaderStates } from '../apps/origin.ts'
import type { Grain } from '../prometheus/expressions.ts'
import { Flights } from '../prometheus/flights.ts'
import type { PrometheusHistory } from '../prometheus/prometheus-history.ts'
import { appRows, podRows } from './derived-rows.ts'
import { canDerive, DERIVED_TYPES } from './derived-types.ts'
import {
  ageExpression,
  agentExpression,
  exporterTargetExpression,
  gpuCountExpression,
  labelExpression,
  type RawName,
  rawExpression,
  requestExpression,
  scheduledExpression,
  startExpression,
  targetExpression,
} from './expressions.ts'
import { GPU_FIELD_ORIGINS } from './gpu-columns.ts'
import { type PodColumns, PodColumnsTable } from './pod-columns.ts'
import { detailExpressions, detailsOf } from './pod-details.ts'
import { sharedRows } from './shared-rows.ts'
import { scrapeTargets } from './workload.ts'

/** How long a positive check for rows of agents stays valid. Unit: milliseconds. */
const KNOWN_MS = 30_000
/** The same for a negative check. Unit: milliseconds. */
const NONE_KNOWN_MS = 2000
/** Raw series that every query needs, because they show which GPUs pods hold. */
const ALWAYS: readonly RawName[] = ['used', 'util']
/** Memory of the details of a pod. Unit: bytes. */
const POD_BYTES = 1000
/** Metrics of the derived rows. */
const ROW_METRICS: ReadonlySet<string> = new Set(
  DERIVED_TYPES.flatMap(({ fields }) => fields.map(({ metric }) => metric)),
)

/**
 * The rows `pod_gpu_…` and `app_gpu_…` over a Prometheus that scrapes raw exporters. If it has no such rows of an
 * agent, they are derived from the series of dcgm-exporter and kube-state-metrics. All other queries are passed on
 * unchanged.
 */
export class ExporterHistory implements History, Catalogue {
  readonly #history: PrometheusHistory
  readonly #isScraping: () => boolean
  #hasAnswered = false
  /** Answers that were derived from raw series, by query. */
  readonly #flights = new Flights<QueryAnswer>(bytesOf)
  readonly #detailFlights = new Flights<ReadonlyMap<string, PodDetails>>(({ size }) => size * POD_BYTES)
  #hasRows: { readonly untilMs: number; readonly answer: Promise<boolean> } | undefined

  /** `isScraping`: whether exporters are read. Default: yes. */
  constructor(history: PrometheusHistory, isScraping: () => boolean = () => true) {
    this.#history = history
    this.#isScraping = isScraping
  }

  /**
   * The exporters as a scraper that can be switched off. Its state is that of a request now.
   */
  async scraper(): Promise<Scraper> {
    const common = { name: 'prometheus', hasAnswered: this.#hasAnswered }
    if (!this.#isScraping()) return { ...common, state: 'disabled', detail: '', hasAnswered: true }
    try {
      const count = await this.gpuCount()
      this.#hasAnswered ||= count > 0
      return count > 0
        ? { ...common, state: 'enabled', detail: `exporters of ${countOf(count, 'GPU')}`, hasAnswered: true }
        : { ...common, state: 'error', detail: 'it has no series of dcgm-exporter' }
    } catch (error) {
      return { ...common, state: 'error', detail: messageOf(error) }
    }
  }

  /**
   * The readers of GPUs for the state of a page; undefined where pods decide it.
   *
   * @throws SondeError as a query does.
   */
  async readers(): Promise<ReaderStates> {
    if (await this.#knowsRows(requestOfNow(Date.now(), []))) return undefined
    if (!this.#isScraping()) return [{ name: 'prometheus', state: 'off', reason: '' }]
    return (await this.gpuCount()) === 0 ? [] : undefined
  }

  /** The targets that have GPU series, or had some within an hour. */
  async targets(): Promise<{ readonly up: number; readonly down: readonly string[] }> {
    const asked = requestOfNow(Date.now(), [])
    const { series } = await this.#history.evaluate(asked, (grain) => [
      { metric: 'up', expression: exporterTargetExpression(grain) },
    ])
    const targets = series[0] ?? []
    const down = targets.filter(({ values }) => values.at(-1) === 0)
    return { up: targets.length - down.length, down: down.map(({ labels }) => labelOf(labels, 'instance')) }
  }

  /** The number of GPUs and MIG instances of which exporters have series now. */
  async gpuCount(): Promise<number> {
    const asked = requestOfNow(Date.now(), [])
    const { series } = await this.#history.evaluate(asked, (grain) => [
      { metric: 'DCGM_FI_DEV_FB_USED', expression: gpuCountExpression(grain) },
    ])
    return series[0]?.[0]?.values.at(-1) ?? 0
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const isOfRows = request.queries.length > 0 && request.queries.every(({ metric }) => ROW_METRICS.has(metric))
    if (!isOfRows || (await this.#knowsRows(request))) return this.#history.query(request)
    if (!this.#isScraping()) return emptyAnswer(request)
    return this.#flights.take(JSON.stringify(request), () => this.#derive(request))
  }

  /** Includes the derived rows, because a page queries only listed types. */
  async types(): Promise<{ readonly types: Iterable<ListedType>; readonly leftOut: number }> {
    const { types, leftOut } = await this.#history.types()
    const listed = [...types]
    return { types: this.#isScraping() && canDerive(listed) ? [...listed, ...DERIVED_TYPES] : listed, leftOut }
  }

  /** Node, devices and state of all GPU pods now, by `namespacedName`. */
  details(): Promise<ReadonlyMap<string, PodDetails>> {
    return this.#detailFlights.take('', async () => {
      const window = requestOfNow(Date.now(), [])
      const { series } = await this.#history.evaluate(window, detailExpressions)
      if (!this.#isScraping() || (await this.#knowsRows(window))) return detailsOf(series, [])
      const { table } = await this.#tableOf(window, ALWAYS, 'last')
      return detailsOf(series, table.pods.values())
    })
  }

  async series(wanted: { readonly metric?: string; readonly type?: string }): Promise<readonly LatestSeries[]> {
    const found = await this.#history.series(wanted)
    const metrics = wanted.metric === undefined ? metricsOf(wanted.type) : [wanted.metric]
    if (found.length > 0 || metrics.length === 0 || !metrics.every((metric) => ROW_METRICS.has(metric))) return found
    const queries = metrics.map((metric): SeriesQuery => {
      return { metric, function: 'last', matchers: [], by: undefined, aggregate: 'sum' }
    })
    const { times, results } = await this.query(requestOfNow(Date.now(), queries))
    return results.flatMap(({ metric, series }) => series.flatMap((one) => latestOf(metric, one, times)))
  }

  #knowsRows({ fromMs, toMs, stepMs }: QueryRequest): Promise<boolean> {
    const nowMs = performance.now()
    if (this.#hasRows !== undefined && this.#hasRows.untilMs > nowMs) return this.#hasRows.answer
    const window = { fromMs: Math.max(fromMs, toMs - stepMs), toMs, stepMs }
    const asked = this.#history.evaluate(window, (grain) => [
      { metric: 'pod_gpus', expression: agentExpression(grain) },
    ])
    const answer = asked.then(({ series: [rows = []] }) => rows.length > 0)
    this.#hasRows = { untilMs: nowMs + KNOWN_MS, answer }
    answer.then(
      (hasRows) => {
        if (!hasRows) this.#hasRows = { untilMs: nowMs + NONE_KNOWN_MS, answer }
      },
      () => {
        this.#hasRows = undefined
      },
    )
    return answer
  }

  async #derive(request: QueryRequest): Promise<QueryAnswer> {
    for (const query of request.queries) check(query)
    const names = rawsOf(request.queries)
    const fn = request.queries.some((query) => query.function === 'avg') ? 'avg' : 'last'
    const { times, intervalMs, table } = await this.#tableOf(request, names, fn)
    const pods = [...table.pods.values()]
    const results = request.queries.map((query): QueryResult => {
      return resultOf(query, rowsOf(query.metric, pods, table, times.length), intervalMs)
    })
    const { fromMs, toMs, stepMs } = request
    return { fromMs, toMs, stepMs, times, results }
  }

  async #tableOf(window: Omit<QueryRequest, 'queries'>, names: readonly RawName[], fn: 'last' | 'avg') {
    const { times, intervalMs, series } = await this.#history.evaluate(window, (grain) => questions(names, fn, grain))
    const [up = [], requested = [], started = [], scheduled = [], labels = [], ages = [], ...raws] = series
    const table = new PodColumnsTable(scrapeTargets(up))
    for (const [i, name] of names.entries()) table.takeGpus(name, raws[i] ?? [])
    table.takePods('pod_gpu_requested_gpus', requested)
    table.takePods('pod_gpu_start_time_seconds', started)
    table.takePods('pod_gpu_scheduled', scheduled)
    table.takeLabels(labels)
    table.takeLargest('pod_gpu_sample_age_seconds', ages)
    return { times, intervalMs, table }
  }
}

/** What exporters that are not read answer. */
function emptyAnswer({ fromMs, toMs, stepMs, queries }: QueryRequest): QueryAnswer {
  const times = gridOf(fromMs, toMs, stepMs)
  return { fromMs, toMs, stepMs, times, results: queries.map((query) => resultOf(query, [], 0)) }
}

function rowsOf(
  metric: string,
  pods: readonly PodColumns[],
  { devices }: PodColumnsTable,
  length: number,
): readonly SeriesAnswer[] {
  if (metric.startsWith('pod_')) return podRows(metric, pods, length)
  if (metric.startsWith('app_')) return appRows(metric, pods, length)
  return sharedRows(metric, pods, devices, length)
}

function metricsOf(type = ''): readonly string[] {
  return DERIVED_TYPES.filter(({ name }) => name === type).flatMap(({ fields }) => fields.map(({ metric }) => metric))
}

/** The last value of a series; nothing if it has no current value. */
function latestOf(metric: string, { labels, values }: SeriesAnswer, times: Float64Array): LatestSeries[] {
  const at = values.length - 1
  const value = values[at] ?? Number.NaN
  return Number.isNaN(value) ? [] : [{ metric, labels, value: String(value), timeMs: times[at] ?? 0, absent: '' }]
}

function bytesOf({ results }: QueryAnswer): number {
  const series = results.flatMap((result) => result.series)
  return series.reduce((sum, { values }) => sum + values.byteLength, 0)
}

function questions(names: readonly RawName[], fn: 'last' | 'avg', grain: Grain) {
  return [
    { metric: 'up', expression: targetExpression(grain) },
    { metric: 'kube_pod_container_resource_requests', expression: requestExpression(grain) },
    { metric: 'kube_pod_start_time', expression: startExpression(grain) },
    { metric: 'kube_pod_status_scheduled', expression: scheduledExpression(grain) },
    { metric: 'kube_pod_labels', expression: labelExpression(grain) },
    { metric: 'DCGM_FI_DEV_FB_USED', expression: ageExpression() },
    ...names.map((name) => ({ metric: `DCGM ${name}`, expression: rawExpression(name, fn, grain) })),
  ]
}

/** The raw series that queries need. */
function rawsOf(queries: readonly SeriesQuery[]): RawName[] {
  const metrics = new Set(queries.map(({ metric }) => metric))
  const fields = GPU_FIELDS.filter((field) => {
    const named = (['avg', 'min', 'max', 'count'] as const).map((statistic) => appMetric(field, statistic))
    return [podMetric(field), sharedMetric(field), ...named].some((metric) => metrics.has(metric))
  })
  return [...new Set([...ALWAYS, ...fields.flatMap((field) => GPU_FIELD_ORIGINS[field].raws)])]
}

function check({ metric, function: asked }: SeriesQuery): void {
  if (asked === 'last' || asked === 'avg' || asked === 'min' || asked === 'max') return
  throw new SondeError('QRY_FORM', `${metric} is a gauge, and ${asked} is for counters; allowed: last, avg, min, max`)
}

function resultOf(query: SeriesQuery, rows: readonly SeriesAnswer[], intervalMs: number): QueryResult {
  const holds = matcherOf(query.matchers)
  const chosen = rows.filter(({ labels }) => holds(labels))
  const series = levelsOf(query).reduce<readonly SeriesAnswer[]>(
    (joined, { by, aggregate }) => aggregateSeries(joined, by, aggregate),
    chosen,
  )
  return {
    ...{ metric: query.metric, unit: '', role: 'gauge', help: '', function: query.function, clock: 'wall' },
    ...{ resolutionMs: series.length === 0 ? 0 : intervalMs, series: [...series], notes: [] },
  }
}
