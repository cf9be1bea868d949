import { SondeError } from '@sonde/sdk'
import type {
  ApiAnswers,
  AppGpuAnswer,
  AppMetricsAnswer,
  AppProcess,
  AppService,
  GpuField,
  GpuNumber,
  GpuPod,
  GpuService,
} from '@sonde/sdk/api'
import { askedBy, askerOf, chartRequest, checkedName, LONGEST_PERIOD_MS } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppPod } from './app-pod.ts'
import { chartsOf, intervalAt } from './charts.ts'
import { type AppLimits, Gate } from './limits.ts'
import type { AppsOrigin } from './origin.ts'
import { podAnswer } from './pod-answer.ts'
import { anyAsks, podsNow } from './pods.ts'
import { podsAnswer } from './pods-answer.ts'
import { appsOf, largestServices, servicesBySize, totalOf } from './ranking.ts'
import { gpuServices } from './services.ts'
import { stateFacts, stateOf } from './state.ts'
import { totalsOf } from './totals.ts'

/** Pods in one answer for the page: people cannot use a longer table. */
const POD_ROWS_MAX = 5000

/** Longest name of a pod in Kubernetes. Unit: characters. */
const NAME_LENGTH_MAX = 253

/** Options of {@link appRoutes}. */
export interface AppRoutesOptions extends AppsOrigin {
  /** The present limits: parameters change them while the server runs. */
  readonly limits: () => AppLimits
}

/** Routes of apps and the GPUs of their pods, below `/api/v1/apps`. */
export function appRoutes(app: FastifyInstance, options: AppRoutesOptions): void {
  const { limits } = options
  const gate = new Gate(() => limits().concurrent)
  const originOf = (request: FastifyRequest): AppRoutesOptions => {
    return { ...options, history: askedBy(options.history, askerOf(request)) }
  }
  const answerRoute = <Path extends keyof ApiAnswers>(
    path: Path,
    answer: (request: FastifyRequest) => Promise<ApiAnswers[Path]>,
  ) => app.get(path, async (request, reply) => fresh(reply).send(await answer(request)))
  answerRoute('/api/v1/apps', async (request) => {
    const origin = originOf(request)
    const { history } = origin
    const sizes = await servicesBySize(history)
    const apps = appsOf(sizes, sizes.length === 0 ? [] : await podsToJudge(origin))
    const why =
      apps.length > 0
        ? { state: 'ready' as const, summary: '', advice: [] }
        : stateOf(
            'any app',
            [],
            await stateFacts(options),
            options.readsRequests?.() === true || (await anyAsks(history)),
          )
    return { nowMs: Date.now(), apps, total: totalOf(sizes), ...why }
  })
  answerRoute('/api/v1/pods', async (request) => {
    const name = queryOf(request, 'app')
    return podsAnswer(originOf(request), name === undefined ? undefined : checkedName(name, 'app'))
  })
  answerRoute('/api/v1/pods/:namespace/:pod', (request) =>
    podAnswer(originOf(request), { namespace: ownerIn(request, 'namespace'), name: ownerIn(request, 'pod') }),
  )
  answerRoute('/api/v1/apps/:app/gpu', (request) => gpuAnswer(originOf(request), request))
  answerRoute('/api/v1/apps/:app/services', async (request) => {
    const { pods, shared } = await podsNow(originOf(request), {
      app: nameIn(request, 'app'),
      services: namesIn(request, 'services'),
    })
    return gpuServices(pods, shared).map(describeService)
  })
  answerRoute('/api/v1/apps/:app/processes', async (request) => {
    const { pods } = await podsNow(originOf(request), {
      app: nameIn(request, 'app'),
      services: namesIn(request, 'services'),
    })
    return pods.map(describePod)
  })
  answerRoute('/api/v1/apps/:app/processes/:pod', async (request) => {
    const [name, pod] = [nameIn(request, 'app'), nameIn(request, 'pod')]
    const { pods } = await podsNow(originOf(request), { app: name })
    const found = pods.filter((each) => each.name === pod)
    if (found.length === 0) throw unknown(`app ${name} has no GPU pod ${pod}`)
    return found.map(describePod)
  })
  answerRoute('/api/v1/apps/:app/services/:service/metrics', (request) => charts(request, [nameIn(request, 'service')]))
  answerRoute('/api/v1/apps/:app/metrics-by-service', async (request) => {
    const services = namesIn(request, 'services')
    if (services === undefined)
      throw new SondeError('QRY_FORM', 'services is missing; give their names, separated by commas')
    return charts(request, services)
  })

  function charts(request: FastifyRequest, services: readonly string[]): Promise<AppMetricsAnswer> {
    const asked = {
      start: queryOf(request, 'start'),
      end: queryOf(request, 'end'),
      period: queryOf(request, 'period'),
      fields: queryOf(request, 'fields'),
    }
    const [app, nowMs] = [nameIn(request, 'app'), Date.now()]
    const { history } = originOf(request)
    const requestWith = (intervalMs: number) =>
      chartRequest(app, services, asked, { limits: limits(), intervalMs, nowMs })
    // A request that is invalid for any distance of samples is refused before any query, and does not take a slot.
    requestWith(LONGEST_PERIOD_MS)
    return gate.through(async () =>
      chartsOf(history, requestWith(await intervalAt(history, app, services, asked, nowMs))),
    )
  }
}

/** The pods of all apps with what their condition needs; undefined if there are too many for one answer. */
async function podsToJudge({ latest: _, ...origin }: AppRoutesOptions): Promise<readonly AppPod[] | undefined> {
  try {
    return (await podsNow(origin, { fields: ['gpu-util'] })).pods
  } catch (error) {
    if (error instanceof SondeError && error.code === 'APP_CAP') return undefined
    throw error
  }
}

async function gpuAnswer(options: AppRoutesOptions, request: FastifyRequest): Promise<AppGpuAnswer> {
  const { history, limits, readsRequests } = options
  const app = nameIn(request, 'app')
  const chosen = await chosenServices(history, limits(), app, request)
  const { nowMs, pods, shared, intervalMs } = await podsNow(options, { app, services: chosen.names })
  const knowsRequests =
    pods.some(({ requested }) => requested !== null) || readsRequests?.() === true || (await anyAsks(history))
  const { state, summary, advice } = stateOf(app, pods, await stateFacts(options), knowsRequests)
  const services = gpuServices(pods, shared)
  const { leftOut } = chosen
  return {
    nowMs,
    app,
    state,
    summary,
    advice,
    services,
    leftOut,
    pods: pods.map(withoutApp),
    totals: totalsOf(pods, shared),
    knowsRequests,
    intervalMs,
  }
}

/**
 * The services of an answer: the requested services, else all; with `largest` only those with the most GPUs.
 *
 * @throws SondeError `APP_CAP` if there are more than one request may ask for.
 */
async function chosenServices(
  history: AppsOrigin['history'],
  limits: AppLimits,
  app: string,
  request: FastifyRequest,
): Promise<{ readonly names?: readonly string[]; readonly leftOut: AppGpuAnswer['leftOut'] }> {
  const asked = namesIn(request, 'services')
  const isLargest = isAskedFor(request, 'largest')
  const sizes = asked === undefined ? await servicesBySize(history, app) : []
  const pods = sizes.reduce((sum, size) => sum + size.pods, 0)
  const count = asked?.length ?? sizes.length
  if (count <= limits.services && pods <= POD_ROWS_MAX)
    return asked === undefined ? { leftOut: NONE } : { names: asked, leftOut: NONE }
  if (!isLargest || asked !== undefined) {
    const most = `${limits.services} services and ${POD_ROWS_MAX} pods`
    throw new SondeError(
      'APP_CAP',
      `app ${app}: ${count} services with ${pods} GPU pods are asked for; allowed: ${most}; ` +
        'ask with largest=true for those with the most GPUs, with services=a,b for some, or raise limits.gpu_metrics_max_pods',
    )
  }
  const names = largestServices(sizes, limits.services, POD_ROWS_MAX)
  const shown = new Set(names)
  const left = sizes.filter(({ name }) => !shown.has(name))
  return { names, leftOut: { services: left.length, pods: left.reduce((sum, size) => sum + size.pods, 0) } }
}

const NONE = { services: 0, pods: 0 }

function withoutApp({ app: _, key: _key, ...pod }: AppPod): GpuPod {
  return pod
}

/** A service with the nine numbers as keys; unknown numbers are left out. */
function describeService({ name, pods, gpus, values, deviceValues, warming, missing }: GpuService): AppService {
  const known = Object.entries(values).filter((entry): entry is [GpuField, GpuNumber] => entry[1] !== null)
  const means = Object.fromEntries(known.map(([field, { avg }]) => [field, avg]))
  return { name, gpu: gpus, pods, ...means, statistics: Object.fromEntries(known), deviceValues, warming, missing }
}

function describePod(pod: GpuPod): AppProcess {
  const { namespace, name, service, gpus, sharedWith, values, deviceValues, isWarming, startedMs, ageMs } = pod
  const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
  const started = startedMs === null ? {} : { started: new Date(startedMs).toISOString() }
  const age = ageMs === null ? {} : { sampleAgeMs: ageMs }
  const status = isWarming ? 'warming' : 'running'
  return { id: name, namespace, service, gpu: gpus, sharedWith, status, ...started, ...age, ...known, deviceValues }
}

/** A repeated request must not be answered from a cache. */
function fresh(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}

function nameIn({ params }: FastifyRequest, key: string): string {
  return checkedName((params as Record<string, string>)[key] ?? '', key)
}

/** A name in the path; owners without a pod may have any text. */
function ownerIn({ params }: FastifyRequest, key: string): string {
  const name = (params as Record<string, string>)[key] ?? ''
  if (name !== '' && name.length <= NAME_LENGTH_MAX) return name
  throw new SondeError('QRY_FORM', `${key} has ${name.length} characters; allowed: 1 to ${NAME_LENGTH_MAX}`)
}

/** Names in a list parameter; undefined if it is missing. */
function namesIn(request: FastifyRequest, key: string): string[] | undefined {
  return queryOf(request, key)
    ?.split(',')
    .map((name) => checkedName(name, key))
}

function isAskedFor(request: FastifyRequest, key: string): boolean {
  const text = queryOf(request, key) ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw new SondeError('QRY_FORM', `${key} is ${JSON.stringify(text.slice(0, 100))}; allowed: true, false`)
}

function queryOf({ query }: FastifyRequest, key: string): string | undefined {
  const value = (query as Record<string, string | string[] | undefined>)[key]
  if (value === undefined || typeof value === 'string') return value
  throw new SondeError('QRY_FORM', `${key} is given ${value.length} times; allowed: once`)
}

function unknown(message: string): SondeError {
  return new SondeError('APP_UNKNOWN', message)
}
