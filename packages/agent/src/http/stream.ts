import type { ServerResponse } from 'node:http'
import { SondeError } from '@sonde/sdk'
import { askerOf, parseQueries, queryReader, stepOf } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { INCIDENTS_STREAM } from './incidents-stream.ts'
import { LiveRound, type Subscription, subscriptionTo } from './live-round.ts'
import { LiveStream, lastStepMs, type Missed } from './live-stream.ts'
import { LiveStreams } from './live-streams.ts'
import { jsonParameter, parameter, type Queried } from './query.ts'
import { startEvents } from './server-sent-events.ts'
import type { StreamSlot, StreamSlots } from './stream-slots.ts'

const STEP_MS_MIN = 100
const STEP_MS_MAX = 60_000
const STEP_MS_DEFAULT = 1000

const ADDRESS = '/api/v1/stream'

/** Whether a request is for a live stream. How many of these are open is bounded by themselves. */
export function isStream(url: string): boolean {
  const [path] = url.split('?', 1)
  return path === ADDRESS || path === INCIDENTS_STREAM
}

/**
 * `GET /api/v1/stream`: new values once a step, as server-sent events that resume. Gives the places of all streams.
 */
export function streamRoute(app: FastifyInstance, agent: Agent, queried: Queried): StreamSlots {
  const streams = new LiveStreams(agent)
  app.addHook('preClose', async () => streams.end())
  app.get(ADDRESS, { exposeHeadRoute: false }, async (request, reply) => {
    const subscription = subscriptionOf(request)
    const place = streams.places.take(subscription)
    const stream = new LiveStream(agent, reply.raw, subscription)
    let missed: Missed
    try {
      // What cannot be answered is refused now, while there is still a status to say it with.
      const toMs = lastStepMs(subscription.stepMs)
      await new LiveRound(agent).points(subscription, toMs - subscription.stepMs, toMs)
      missed = await stream.missed(queried, askerOf(request))
    } catch (error) {
      place.release()
      throw error
    }
    reply.hijack()
    const resume = () => stream.resume(missed, queried.unread)
    // The client may have gone meanwhile.
    if (reply.raw.destroyed) place.release()
    else serve(streams, stream, { out: reply.raw, place, resume })
  })
  return streams.places
}

interface ServedStream {
  readonly out: ServerResponse
  readonly place: StreamSlot
  /** Sends what was missed. */
  readonly resume: () => Promise<void>
}

function serve(streams: LiveStreams, stream: LiveStream, { out, place, resume }: ServedStream): void {
  startEvents(out)
  place.onReplaced = () => {
    streams.remove(stream)
    stream.fail('STR_LIMIT', 'another client took the place of this stream, which was open for longest; connect again')
  }
  out.once('close', () => {
    place.release()
    stream.close()
    streams.remove(stream)
  })
  resume()
    // A client that leaves while it resumes is not added again after it was removed.
    .then(() => out.destroyed || streams.add(stream))
    .catch((error: unknown) => streams.failed(stream, error))
}

function subscriptionOf(request: FastifyRequest): Subscription {
  const { stepMs: step = STEP_MS_DEFAULT, queries } = queryReader.object('q', jsonParameter(request), [
    'stepMs',
    'queries',
  ])
  const stepMs = stepOf(step, STEP_MS_DEFAULT)
  if (stepMs < STEP_MS_MIN || stepMs > STEP_MS_MAX)
    throw new SondeError('QRY_FORM', `stepMs is ${stepMs}; a live stream takes ${STEP_MS_MIN} to ${STEP_MS_MAX}`)
  return subscriptionTo(parseQueries(queries), stepMs, lastMsOf(request))
}

/** The time of the last event that the client has, which is its id; undefined if it is new. */
export function lastMsOf(request: FastifyRequest): number | undefined {
  const header = request.headers['last-event-id']
  const text = typeof header === 'string' && header !== '' ? header : parameter(request, 'lastEventId').lastEventId
  if (text === undefined) return undefined
  const lastMs = Number(text)
  if (lastMs >= 0 && lastMs < 1e14) return lastMs
  throw new SondeError(
    'QRY_FORM',
    `the last event id is ${JSON.stringify(text.slice(0, 100))}; allowed: an id that was sent`,
  )
}
