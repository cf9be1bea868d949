import { answerToJson, parseQueries, type QueryAnswer, SondeError, stepOf } from '@sonde/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { queryParameter } from './api.ts'
import { describeNode } from './node.ts'

const STEP_MS_MIN = 100
const STEP_MS_MAX = 60_000
/** A sample may arrive this long after its time and still be in the first message that covers it. Unit: milliseconds. */
const SETTLE_MS = 250
const STATE_EVERY_MS = 10_000
/** A client that takes nothing for this long is let go; it resumes by its last id. Unit: bytes waiting. */
const BACKLOG_LIMIT_BYTES = 4 << 20
const RESUME_LIMIT_MS = 3_600_000

/** `GET /api/v1/stream`: new values once a step, as server-sent events that resume. */
export function streamRoute(app: FastifyInstance, agent: Agent): void {
  let clients = 0
  const limit = agent.options.config.limits.stream_clients
  app.get('/api/v1/stream', (request, reply) => {
    if (clients >= limit)
      throw new SondeError('STR_LIMIT', `${limit} live streams are open; close one, or raise limits.stream_clients`)
    const subscription = subscriptionOf(request)
    clients++
    openStream(agent, request, reply, subscription, () => clients--)
  })
}

type Subscription = {
  readonly queries: ReturnType<typeof parseQueries>
  readonly stepMs: number
  readonly lastMs: number | undefined
}

function subscriptionOf(request: FastifyRequest): Subscription {
  const form = queryParameter(request) as { queries?: unknown; stepMs?: unknown }
  const stepMs = stepOf(form?.stepMs ?? 1000, 1000)
  if (stepMs < STEP_MS_MIN || stepMs > STEP_MS_MAX) {
    throw new SondeError('QRY_FORM', `stepMs is ${stepMs}; a live stream takes ${STEP_MS_MIN} to ${STEP_MS_MAX}`)
  }
  const { lastEventId } = request.query as { lastEventId?: string }
  const last = Number(request.headers['last-event-id'] ?? lastEventId ?? Number.NaN)
  return { queries: parseQueries(form?.queries), stepMs, lastMs: Number.isFinite(last) ? last : undefined }
}

function openStream(
  agent: Agent,
  request: FastifyRequest,
  reply: FastifyReply,
  subscription: Subscription,
  onEnd: () => void,
): void {
  const { queries, stepMs } = subscription
  reply.hijack()
  const out = reply.raw
  out.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  let sentMs = Math.floor((Date.now() - SETTLE_MS) / stepMs) * stepMs
  let stateMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let ended = false

  const send = (event: string, data: string, id?: number) => {
    out.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
    if (out.writableLength > BACKLOG_LIMIT_BYTES) out.destroy()
  }
  const sendPoints = (answer: QueryAnswer) => send('points', answerToJson(answer), answer.toMs)
  const tick = () => {
    if (ended) return
    const nowMs = Date.now()
    if (nowMs - stateMs >= STATE_EVERY_MS) {
      send('state', JSON.stringify(describeNode(agent)))
      stateMs = nowMs
    }
    const toMs = Math.floor((nowMs - SETTLE_MS) / stepMs) * stepMs
    if (toMs > sentMs) {
      sendPoints(agent.recent.queryNow({ fromMs: sentMs, toMs, stepMs, queries }))
      sentMs = toMs
    } else if (toMs < sentMs - STEP_MS_MAX) {
      // The clock was set back: go on from where it is now.
      sentMs = toMs
    }
    timer = setTimeout(tick, toMs + stepMs + SETTLE_MS - Date.now())
  }
  request.raw.on('close', () => {
    ended = true
    clearTimeout(timer)
    onEnd()
  })
  void resume(agent, subscription, sentMs).then((missed) => {
    if (ended) return
    if (missed !== undefined) sendPoints(missed)
    tick()
  })
}

/** What a client missed, from history; undefined where it is new, or where history cannot say. */
async function resume(
  agent: Agent,
  { queries, stepMs, lastMs }: Subscription,
  toMs: number,
): Promise<QueryAnswer | undefined> {
  if (lastMs === undefined || lastMs >= toMs) return undefined
  const fromMs = Math.max(lastMs, toMs - RESUME_LIMIT_MS)
  try {
    return await agent.history.query({ fromMs, toMs, stepMs, queries })
  } catch (error) {
    agent.options.log.warn({ error }, 'a live stream could not resume from history')
    return undefined
  }
}
