import type { ApiAnswers } from '../api/answers.ts'
import type {
  AppGpuAnswer,
  AppMetricsAnswer,
  AppProcess,
  AppService,
  AppsAnswer,
  GpuField,
  PodName,
  PodsAnswer,
} from '../api/apps.ts'
import type { LatestAnswer, TypesAnswer } from '../api/catalogue.ts'
import { type ChartParameters, chartRequest, checkedName, LONGEST_PERIOD_MS } from '../api/chart-request.ts'
import type { DevicesAnswer } from '../api/devices.ts'
import type { EventAnswer } from '../api/events.ts'
import type { ExplainAnswer } from '../api/explain.ts'
import type { HintSeverity, HintsAnswer } from '../api/hints.ts'
import type { IncidentAnswer, IncidentKind, IncidentsAnswer } from '../api/incidents.ts'
import type { NodeAnswer } from '../api/node.ts'
import type { PodAnswer } from '../api/pods.ts'
import type { JsonQueryAnswer, MetricQuery, QueryBody } from '../api/query.ts'
import { type RouteParameters, routeAddress } from '../api/route-address.ts'
import type { SourceAnswer, SourcesAnswer } from '../api/sources.ts'
import { ApiRequests } from './api-requests.ts'
import { followEvents, type StreamMessage } from './follow-events.ts'
import { type ApiClientOptions, type CheckedOptions, checkedOptions } from './options.ts'

/** Longer silence means that a stream is lost: servers send their state every 10 s. Unit: milliseconds. */
const SILENCE_LIMIT_MS = 25_000
const STEP_MS_DEFAULT = 1000

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** A time span. Unit: milliseconds since the Unix epoch. */
export interface ApiWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Which incidents are listed. Default: the first 100 of all. */
export interface IncidentsWanted extends Partial<ApiWindow> {
  readonly rule?: string
  /** Id of the device at fault, or of an affected device. */
  readonly device?: string
  readonly severity?: HintSeverity
  readonly kind?: IncidentKind
  readonly state?: 'open' | 'ended'
  /** Words of titles, sentences, rules or devices. */
  readonly find?: string
  /** Range: 1 to 1000. Default: 100. */
  readonly limit?: number
  readonly cursor?: string
}

/** A request for series of the services of an app. */
export interface AppMetricsWanted {
  readonly app: string
  /** Each once. At most `chartLimits.services`, by default 100. */
  readonly services: readonly string[]
  /** Unit: milliseconds since the Unix epoch. Default: half an hour before `endMs`; at most 24 h before it. */
  readonly startMs?: number
  /** Unit: milliseconds since the Unix epoch. Default: now. */
  readonly endMs?: number
  /** Whole seconds, at least 5, for at most 5000 points. Default: at most 300 points. */
  readonly periodS?: number
  /** Default: all but `gpu-mem-total`. */
  readonly fields?: readonly GpuField[]
}

/** What a live stream sends: the queries as for {@link ApiClient.query}, without a window. */
export interface StreamWanted {
  readonly queries: readonly MetricQuery[]
  /** Unit: milliseconds. Range: 100 to 60 000. Default: 1000. */
  readonly stepMs?: number
}

/**
 * Reads the HTTP API of an agent or a console. A request that may succeed later is sent again. Every call rejects with
 * a SondeError: with the code of the server, or `CLT_UNREACHABLE`, `CLT_TIMEOUT` or `CLT_ANSWER`.
 */
export class ApiClient {
  readonly #options: CheckedOptions
  readonly #requests: ApiRequests

  /** Use {@link createApiClient}. */
  constructor(options: CheckedOptions) {
    this.#options = options
    this.#requests = new ApiRequests(options)
  }

  /** The answer of any address that answers `GET` with JSON. */
  get<Path extends keyof ApiAnswers>(
    path: Path,
    parameters?: RouteParameters,
    { signal }: CallOptions = {},
  ): Promise<ApiAnswers[Path]> {
    return this.#requests.json({ address: routeAddress(path, parameters), accept: 'application/json', signal })
  }

  /** The node, its hardware and its history. */
  node(options?: CallOptions): Promise<NodeAnswer> {
    return this.get('/api/v1/node', {}, options)
  }

  /** The sources of the agent, its clients and its sinks. */
  sources(options?: CallOptions): Promise<SourcesAnswer> {
    return this.get('/api/v1/sources', {}, options)
  }

  /** One source with its settings and failures. */
  source(name: string, options?: CallOptions): Promise<SourceAnswer> {
    return this.get('/api/v1/sources/:name', { name }, options)
  }

  /** The catalogue of metrics for {@link query}. */
  types(options?: CallOptions): Promise<TypesAnswer> {
    return this.get('/api/v1/types', {}, options)
  }

  /** The latest value of every live series of a metric, or of every metric of a type. */
  series(wanted: { readonly metric?: string; readonly type?: string }, options?: CallOptions): Promise<LatestAnswer> {
    return this.get('/api/v1/series', { ...wanted }, options)
  }

  /** The devices and other entities of the node. */
  devices(options?: CallOptions): Promise<DevicesAnswer> {
    return this.get('/api/v1/devices', {}, options)
  }

  /** The hints of now and of the last hour. */
  hints(options?: CallOptions): Promise<HintsAnswer> {
    return this.get('/api/v1/hints', {}, options)
  }

  /** Incidents, open ones first, then those that ended last. Pass `next` of an answer as `cursor` of the next call. */
  incidents({ fromMs, toMs, ...wanted }: IncidentsWanted = {}, options?: CallOptions): Promise<IncidentsAnswer> {
    return this.get('/api/v1/incidents', { ...wanted, from: fromMs, to: toMs }, options)
  }

  /** One incident with its numbers and notes. */
  incident(id: string, options?: CallOptions): Promise<IncidentAnswer> {
    return this.get('/api/v1/incidents/:id', { id }, options)
  }

  /** The lanes of an incident that is an event of traceback. */
  lanes(id: string, options?: CallOptions): Promise<EventAnswer> {
    return this.get('/api/v1/incidents/:id/lanes', { id }, options)
  }

  /** The walk from file to value of a source, device, metric or pod. */
  explain(of: string, options?: CallOptions): Promise<ExplainAnswer> {
    return this.get('/api/v1/explain', { of }, options)
  }

  /** The apps with GPU pods, the sickest first. */
  apps(options?: CallOptions): Promise<AppsAnswer> {
    return this.get('/api/v1/apps', {}, options)
  }

  /** The services and pods of an app as they are now: those of all services, of some, or of the largest. */
  async app(
    app: string,
    wanted: { readonly services?: readonly string[]; readonly largest?: boolean } = {},
    options?: CallOptions,
  ): Promise<AppGpuAnswer> {
    return this.get('/api/v1/apps/:app/gpu', { app: checkedName(app, 'app'), ...wanted }, options)
  }

  /** The services of an app with the means of their pods. */
  async appServices(app: string, options?: CallOptions): Promise<readonly AppService[]> {
    return this.get('/api/v1/apps/:app/services', { app: checkedName(app, 'app') }, options)
  }

  /** The pods of an app. */
  async appProcesses(app: string, options?: CallOptions): Promise<readonly AppProcess[]> {
    return this.get('/api/v1/apps/:app/processes', { app: checkedName(app, 'app') }, options)
  }

  /**
   * Numbers of the GPUs of services over time.
   *
   * @throws SondeError before anything is sent: `QRY_FORM` for a wrong parameter, `APP_CAP` for too much at once.
   */
  async appMetrics(wanted: AppMetricsWanted, options?: CallOptions): Promise<AppMetricsAnswer> {
    const { app, services, startMs, endMs, periodS, fields } = wanted
    const asked: ChartParameters = {
      start: textOf(startMs),
      end: textOf(endMs),
      period: textOf(periodS),
      fields: fields?.join(','),
    }
    checkedName(app, 'app')
    for (const service of services) checkedName(service, 'services')
    if (services.length === 0) checkedName('', 'services')
    const { chartLimits: limits } = this.#options
    // Checked for the longest period, as the server chooses the period by the distance of the samples.
    chartRequest(app, services, asked, { limits, intervalMs: LONGEST_PERIOD_MS, nowMs: Date.now() })
    return this.get('/api/v1/apps/:app/metrics-by-service', { app, services, ...asked }, options)
  }

  /** The GPU pods of all apps, or of one, as they are now. */
  async pods(app?: string, options?: CallOptions): Promise<PodsAnswer> {
    return this.get('/api/v1/pods', { app: app === undefined ? undefined : checkedName(app, 'app') }, options)
  }

  /** One GPU pod with its devices, network interfaces and processes. */
  pod({ namespace, name }: PodName, options?: CallOptions): Promise<PodAnswer> {
    return this.get('/api/v1/pods/:namespace/:pod', { namespace, pod: name }, options)
  }

  /** Answers several queries over one window. A gap is null. */
  query(body: QueryBody, { signal }: CallOptions = {}): Promise<JsonQueryAnswer> {
    return this.#requests.json({ address: '/api/v1/query', accept: 'application/json', body, signal })
  }

  /**
   * New values once a step, with the state of the node and its hints, for as long as they are read. After a loss it
   * resumes at the last step: `gap` reports steps that are missing then.
   *
   * @throws SondeError if the first connection fails, or the server refuses; the reason of the signal if it is aborted.
   * @example
   * const queries = [{ metric: 'DCGM_FI_DEV_POWER_USAGE', function: 'avg' }]
   * for await (const { event, data } of client.stream({ queries }))
   *   if (event === 'points') console.log(data.results)
   */
  stream(
    { queries, stepMs = STEP_MS_DEFAULT }: StreamWanted,
    { signal }: CallOptions = {},
  ): AsyncGenerator<StreamMessage<'points' | 'gap' | 'state' | 'hints'>, never> {
    const q = JSON.stringify({ stepMs, queries })
    return followEvents(this.#requests, {
      address: (lastEventId) => routeAddress('/api/v1/stream', { q, lastEventId }),
      events: ['points', 'gap', 'state', 'hints'],
      silenceMs: SILENCE_LIMIT_MS + stepMs,
      signal,
    })
  }

  /** The incidents of now and of the last hour whenever they change. Its errors are those of {@link stream}. */
  incidentStream({ signal }: CallOptions = {}): AsyncGenerator<StreamMessage<'incidents'>, never> {
    return followEvents(this.#requests, {
      address: () => '/api/v1/incidents/stream',
      events: ['incidents'],
      silenceMs: SILENCE_LIMIT_MS,
      signal,
    })
  }
}

/**
 * Makes a client of the HTTP API. It needs only `fetch`, so it runs in Node and in browsers.
 *
 * @throws SondeError `CLT_OPTION` names a wrong option.
 * @example
 * const client = createApiClient({ baseUrl: 'https://console.example', token })
 * const { pods } = await client.pods('chat')
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  return new ApiClient(checkedOptions(options))
}

function textOf(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number)
}
