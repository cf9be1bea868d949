import { SondeError } from '@sonde/sdk'
import {
  type Catalogue,
  gridOf,
  type History,
  type LatestSeries,
  type ListedType,
  messageOf,
  type QueryAnswer,
  type QueryRequest,
  type QueryResult,
  type SeriesAnswer,
  SeriesBudget,
  type SeriesQuery,
  turn,
  unitOf,
} from '@sonde/sdk/internal'
import { compileQueries, latestExpression, taggedUnion } from './compile.ts'
import { type Grain, HOLD_INTERVALS } from './expressions.ts'
import { Flights } from './flights.ts'
import { labelsIn, objectIn, pointIn } from './foreign-json.ts'
import { familyOf } from './metadata.ts'
import { type Gathered, gatheredSeries, SeriesReader } from './read-series.ts'
import { INSTANT_LIMIT_MS, instantOf, RANGE_LIMIT_MS, ServerTransport } from './server-transport.ts'
import { type GivenTimes, ToldMetrics } from './told-metrics.ts'

/**
 * VictoriaMetrics replaces the points of its newest 30 s by earlier points, up to one step from now. An answer that
 * ends later is not changed. So answers end this long after now, plus two steps, because clocks differ. Unit:
 * milliseconds.
 */
const VICTORIA_AHEAD_MS = 10_000
/**
 * Answers that end earlier than this before now are not changed, unless a longer latency is configured. Unit:
 * milliseconds.
 */
const HIDDEN_MS = 60_000
/** Largest number of labels in the list of types of a server. */
const LABEL_COUNT = 100

/** Options of {@link PrometheusHistory}. */
export interface PrometheusHistoryOptions extends GivenTimes {
  /** `http://[NAME:PASSWORD@]HOST[:PORT][/PATH]` of a server with the HTTP API of Prometheus. */
  readonly url: string
  /** Whether the URL may lead to loopback and private addresses. Default: yes. */
  readonly allowsPrivate?: boolean
}

/** The series of expressions on a grid of times. */
export interface EvaluatedExpressions {
  /** Unit: milliseconds since the Unix epoch. */
  readonly times: Float64Array
  /** Distance of the samples. Unit: milliseconds. */
  readonly intervalMs: number
  /** By index of the expression. */
  readonly series: readonly (readonly SeriesAnswer[])[]
}

/**
 * A history on any server with the HTTP API of Prometheus. One HTTP request sends all queries of a request. Equal
 * requests within 2 s share the answer.
 */
export class PrometheusHistory implements History, Catalogue {
  readonly transport: ServerTransport
  readonly #told: ToldMetrics
  readonly #answers = new Flights<QueryAnswer>(sizeOf)

  /** @throws SondeError `QRY_BACKEND_URL` if the address is invalid. */
  constructor({ url, allowsPrivate = true, ...given }: PrometheusHistoryOptions) {
    this.transport = new ServerTransport(url, { allowsPrivate })
    this.#told = new ToldMetrics(this.transport, given)
  }

  /** How much older the newest sample is than the last scrape. Unit: milliseconds. */
  get latencyMs(): number {
    return this.#told.latencyMs
  }

  /** A sentence on why the server cannot be queried; empty if it can. */
  async look(): Promise<string> {
    const asked = { ...instantOf({ query: 'vector(1)' }), isAside: true } as const
    const fault = await this.transport
      .ask(asked, () => undefined)
      .then(
        () => '',
        (error: unknown) => messageOf(error),
      )
    if (fault === '') await this.#told.ready()
    return fault
  }

  /** Whether the server has series of simulated hardware, and how many agents it scrapes, as of the last minute. */
  get told(): Pick<ToldMetrics, 'hasSimulated' | 'agentCount'> {
    void this.#told.ready()
    return this.#told
  }

  query(request: QueryRequest): Promise<QueryAnswer> {
    return this.#answers.take(JSON.stringify(request), () => this.#ask(request))
  }

  /**
   * Sends expressions of PromQL in one request.
   *
   * @param build Returns expressions for the spacing of samples, each with its name in the error of too many series.
   * @throws SondeError as `query`.
   */
  async evaluate(
    { fromMs, toMs, stepMs }: Pick<QueryRequest, 'fromMs' | 'toMs' | 'stepMs'>,
    build: (grain: Grain) => readonly { readonly metric: string; readonly expression: string }[],
  ): Promise<EvaluatedExpressions> {
    await this.#told.ready()
    const { intervalMs } = this.#told
    const times = gridOf(fromMs, toMs, stepMs)
    const asked = build(this.#grainOf(times, stepMs))
    const parts = asked.map((_, place) => ({ kind: 'values' as const, questions: new Map([['', [place]]]) }))
    const reader = new SeriesReader(asked, parts, times, stepMs)
    const expression = taggedUnion(asked.map((one) => one.expression))
    if (times.length > 0) await this.#evaluate(expression, times, stepMs, reader)
    return { times, intervalMs, series: reader.gathered.map(({ series }) => series) }
  }

  async types(): Promise<{ types: Iterable<ListedType>; leftOut: number }> {
    await this.#told.ready()
    const [names, labels] = await Promise.all([
      this.#listOf('/api/v1/label/__name__/values'),
      this.#listOf('/api/v1/labels'),
    ])
    const shown = labels.filter((label) => !label.startsWith('__')).slice(0, LABEL_COUNT)
    return { types: typesOf(names, shown, this.#told), leftOut: 0 }
  }

  async series({ metric, type }: { readonly metric?: string; readonly type?: string }): Promise<LatestSeries[]> {
    await this.#told.ready()
    const wanted = metric ?? type ?? ''
    const query = latestExpression(wanted, metric === undefined, this.#holdMs)
    const found: LatestSeries[] = []
    const room = new SeriesBudget(wanted)
    await this.transport.ask(instantOf({ query }), async (text) => {
      const { metric: named, value: point } = objectIn(text)
      const { __name__ = wanted, ...labels } = labelsIn(named)
      const [seconds, value] = pointIn(point)
      room.take(labels)
      found.push({ metric: __name__, labels, value, timeMs: seconds * 1000, absent: '' })
      if (turn.isOver()) await turn.next()
    })
    return found
  }

  async #ask(request: QueryRequest): Promise<QueryAnswer> {
    const { fromMs, toMs, stepMs, queries } = request
    await this.#told.ready()
    for (const query of queries) this.#check(query)
    const times = gridOf(fromMs, toMs, stepMs)
    const isHistogram = (metric: string) => this.#told.of(metric).role === 'bucket'
    const { expression, parts } = compileQueries(queries, this.#grainOf(times, stepMs), isHistogram)
    const reader = new SeriesReader(queries, parts, times, stepMs)
    const notes = times.length === 0 ? [] : await this.#evaluate(expression, times, stepMs, reader)
    const results = queries.map((query, i) => this.#resultOf(query, reader.gathered[i] as Gathered, notes))
    return { fromMs, toMs, stepMs, times, results }
  }

  /** Queries for a single time are about now, so the latency of the server does not count as a gap. */
  #grainOf(times: Float64Array, stepMs: number): Grain {
    const { intervalMs } = this.#told
    const holdMs = times.length === 1 ? this.#holdMs : HOLD_INTERVALS * intervalMs
    return { stepMs, intervalMs, holdMs, looksBack: this.transport.isVictoria }
  }

  /** How long the last value of a series stays valid now. */
  get #holdMs(): number {
    return HOLD_INTERVALS * this.#told.intervalMs + this.#told.latencyMs
  }

  /** Evaluates an expression at every time of a grid: now is an instant, not a range that ends now. */
  async #evaluate(query: string, times: Float64Array, stepMs: number, reader: SeriesReader) {
    const [firstMs = 0] = times
    const asked =
      times.length === 1
        ? instantOf({ query, time: secondsOf(firstMs), timeout: `${INSTANT_LIMIT_MS / 1000}s` })
        : this.#rangeOf(query, firstMs, times.at(-1) ?? firstMs, stepMs)
    const { warnings = [] } = await this.transport.ask(asked, async (text) => {
      reader.take(text)
      if (turn.isOver()) await turn.next()
    })
    return warnings
  }

  #rangeOf(query: string, firstMs: number, lastMs: number, stepMs: number) {
    const nowMs = Date.now()
    const isHidden = this.transport.isVictoria && lastMs > nowMs - HIDDEN_MS
    const stepCount = isHidden ? Math.max(0, Math.ceil((nowMs + VICTORIA_AHEAD_MS - lastMs) / stepMs) + 2) : 0
    const endMs = lastMs + stepCount * stepMs
    const form = {
      query,
      ...{ start: secondsOf(firstMs), end: secondsOf(endMs), step: secondsOf(stepMs) },
      timeout: `${RANGE_LIMIT_MS / 1000}s`,
    }
    return { path: '/api/v1/query_range', form, limitMs: RANGE_LIMIT_MS, depthOfList: 3 }
  }

  /** A decrease of a gauge is no restart. A metric without metadata may have any function. */
  #check({ metric, function: asked }: SeriesQuery): void {
    const { role, isSaid } = this.#told.of(metric)
    if (!isSaid) return
    if (asked === 'quantile' && role !== 'bucket')
      throw new SondeError('QRY_FORM', `${metric} is no histogram, and quantile is for histograms`)
    if (role !== 'gauge' || (asked !== 'rate' && asked !== 'increase')) return
    throw new SondeError('QRY_FORM', `${metric} is a gauge, and ${asked} is for counters; allowed: last, avg, min, max`)
  }

  #resultOf(query: SeriesQuery, gathered: Gathered, notes: readonly string[]): QueryResult {
    const { role, unit, help } = this.#told.of(query.metric)
    const series = gatheredSeries(gathered)
    return {
      metric: query.metric,
      ...{ unit: unitOf(query, unit), role, help },
      function: query.function,
      resolutionMs: series.length === 0 ? 0 : this.#told.intervalMs,
      clock: 'wall',
      series,
      notes,
    }
  }

  async #listOf(path: string): Promise<string[]> {
    const list: string[] = []
    await this.transport.ask({ path, limitMs: INSTANT_LIMIT_MS, depthOfList: 2 }, async (text) => {
      const name: unknown = JSON.parse(text)
      if (typeof name !== 'string') throw new SyntaxError('no name in a list of names')
      list.push(name)
      if (turn.isOver()) await turn.next()
    })
    return list
  }
}

/**
 * One type for each first word of metric names: a server has no types, and a list of all metrics would be too long to
 * read.
 */
function* typesOf(names: readonly string[], labels: readonly string[], told: ToldMetrics): Generator<ListedType> {
  const families = new Map<string, string[]>()
  for (const name of new Set(names.map((name) => histogramOf(name, told)))) {
    const family = familyOf(name)
    families.set(family, [...(families.get(family) ?? []), name])
  }
  for (const [name, metrics] of families) {
    const fields = metrics.map((metric): ListedType['fields'][number] => {
      const { role, unit, help } = told.of(metric)
      return { name: metric, metric, kind: 'f64', role, unit, help }
    })
    const description = `Metrics whose names begin with ${name}`
    yield { name, description, labels, fields, records: [], live: true, read: '' }
  }
}

/** The histogram that a series of its parts belongs to, else the name itself. */
function histogramOf(name: string, told: ToldMetrics): string {
  const whole = name.replace(/_(bucket|sum|count)$/, '')
  return whole !== name && told.of(whole).role === 'bucket' ? whole : name
}

function secondsOf(ms: number): string {
  return (ms / 1000).toFixed(3)
}

function sizeOf({ times, results }: QueryAnswer): number {
  const series = results.reduce((sum, result) => sum + result.series.length, 0)
  return 8 * times.length * (series + 1) + 500 * series
}
