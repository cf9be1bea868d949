import { objectOf, parseQueries, SondeError, stepOf } from '@sonde/sdk'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { jsonParameter, parameter } from './api.ts'
import { LiveStream, lastStepMs, type Subscription } from './live-stream.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

const STEP_MS_MIN = 100
const STEP_MS_MAX = 60_000
const STEP_MS_DEFAULT = 1000

/** `GET /api/v1/stream`: new values once a step, as server-sent events that resume. */
export function streamRoute(app: FastifyInstance, agent: Agent): void {
  const limit = agent.options.config.limits.stream_clients
  app.get('/api/v1/stream', { exposeHeadRoute: false }, (request, reply) => {
    const subscription = subscriptionOf(request)
    // What cannot be answered is refused now, while there is still a status to say it with.
    const toMs = lastStepMs(subscription.stepMs)
    agent.recent.queryNow({ ...subscription, fromMs: toMs - subscription.stepMs, toMs })
    if (agent.http.streams >= limit) {
      agent.http.refuse('stream_clients')
      throw new SondeError('STR_LIMIT', `${limit} live streams are open; close one, or raise limits.stream_clients`)
    }
    reply.hijack()
    reply.raw.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Or nginx would gather events before it sends them on.
      'x-accel-buffering': 'no',
    })
    agent.http.streams++
    const stream = new LiveStream(agent, reply.raw, subscription)
    reply.raw.once('close', () => {
      agent.http.streams--
      stream.close()
    })
    void stream.open()
  })
}

function subscriptionOf(request: FastifyRequest): Subscription {
  const { stepMs: step = STEP_MS_DEFAULT, queries } = objectOf(jsonParameter(request), 'q', ['stepMs', 'queries'])
  const stepMs = stepOf(step, STEP_MS_DEFAULT)
  if (stepMs < STEP_MS_MIN || stepMs > STEP_MS_MAX)
    throw new SondeError('QRY_FORM', `stepMs is ${stepMs}; a live stream takes ${STEP_MS_MIN} to ${STEP_MS_MAX}`)
  return { stepMs, queries: parseQueries(queries), lastMs: lastMsOf(request) }
}

/** The id of the last event that the client has; undefined where it is new. */
function lastMsOf(request: FastifyRequest): number | undefined {
  const header = request.headers['last-event-id']
  const text = typeof header === 'string' && header !== '' ? header : parameter(request, 'lastEventId').lastEventId
  if (text === undefined) return undefined
  const lastMs = Number(text)
  if (Number.isFinite(lastMs) && lastMs >= 0) return lastMs
  throw new SondeError(
    'QRY_FORM',
    `the last event id is ${JSON.stringify(text.slice(0, 100))}; allowed: an id that was sent`,
  )
}
