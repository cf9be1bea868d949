import { Readable } from 'node:stream'
import { SondeError } from '@sonde/sdk'
import type { EventAnswer, TracebackEvent } from '@sonde/sdk/api'
import { askerOf } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { marksIn } from '../traceback/event-list.ts'
import { joinParts, partEntry } from '../traceback/parts.ts'
import { encodeSamples, SAMPLES_CONTENT_TYPE } from '../traceback/read/encode.ts'
import { eventLanes, LANES_MAX, type LaneFilter } from '../traceback/read/lanes.ts'
import { type LaneSamplesRequest, readSamples } from '../traceback/read/samples.ts'
import { sendBytes } from './answer-parts.ts'
import { answerRoute } from './answer-route.ts'
import { numberIn } from './incidents.ts'
import { fresh, parameter, type Queried } from './query.ts'

const FIND_CHARS_MAX = 200
const POINTS_DEFAULT = 1000
const POINTS_MIN = 2
const POINTS_MAX = 20_000
/** Parts of an event in one answer: the latest. */
const PARTS_MAX = 1000
/** Marks of one answer: those of all events within the window. */
const MARKS_MAX = 2000

interface ById {
  readonly Params: { readonly id: string }
}

/** The lanes, the samples and the file of an incident that is an event of traceback. */
export function eventRoutes(app: FastifyInstance, agent: Agent, queried: Queried): void {
  answerRoute(app, '/api/v1/incidents/:id/lanes', (request) =>
    eventAnswer(agent, request.params.id ?? '', laneFilterOf(request)),
  )
  app.get<ById>('/api/v1/incidents/:id/file', async (request, reply) => {
    const event = await eventOf(agent, request.params.id)
    const { bytes, chunks } = agent.traceback.fileOf(event.id)
    return reply
      .header('cache-control', 'no-store')
      .header('content-length', bytes)
      .header('content-disposition', `attachment; filename="event-${event.id}.bin"`)
      .type('application/octet-stream')
      .send(Readable.from(chunks, { objectMode: false }))
  })
  app.get<ById>('/api/v1/incidents/:id/samples', async (request, reply) => {
    const event = await eventOf(agent, request.params.id)
    const question = questionOf(request, event)
    const samples = await queried.places.take(askerOf(request), async () =>
      readSamples(await agent.traceback.readable(event.id), question),
    )
    const bytes = encodeSamples(samples, question.keys)
    return sendBytes(fresh(reply).type(SAMPLES_CONTENT_TYPE), bytes, queried.unread)
  })
}

async function eventAnswer(agent: Agent, id: string, filter: LaneFilter): Promise<EventAnswer> {
  const { traceback } = agent
  const event = await eventOf(agent, id)
  const { index } = await traceback.readable(event.id)
  const lanes = await eventLanes(event, index, filter)
  const { fromMs, toMs } = windowOf(event)
  const parts = traceback.partsOf(event.id)
  return {
    node: agent.node,
    event,
    ...(parts.length > 1 || event.first !== undefined ? { whole: joinParts(parts) } : {}),
    parts: parts.length > 1 ? parts.slice(-PARTS_MAX).map(partEntry) : [],
    leftOut: index.leftOut.toSorted((a, b) => a.fromMs - b.fromMs),
    ...lanes,
    marks: marksIn(traceback.latest(), fromMs, toMs, MARKS_MAX),
  }
}

function laneFilterOf(request: FastifyRequest): LaneFilter {
  const { find } = parameter(request, 'find')
  const { kind } = parameter(request, 'kind')
  if (find !== undefined && find.length > FIND_CHARS_MAX)
    throw new SondeError('QRY_FORM', `find has ${find.length} characters; allowed: ${FIND_CHARS_MAX} at most`)
  return { ...(find === undefined ? {} : { find }), ...(kind === undefined ? {} : { kind }) }
}

/** @throws SondeError `TRB_UNKNOWN` if there is none. */
async function eventOf({ node, traceback }: Agent, id: string): Promise<TracebackEvent> {
  await traceback.opened()
  const number = id.startsWith(`${node}:`) ? id.slice(node.length + 1) : ''
  const event = /^\d{1,16}$/.test(number) ? traceback.get(Number(number)) : undefined
  if (event !== undefined) return event
  const given = JSON.stringify(id.slice(0, 100))
  throw new SondeError('TRB_UNKNOWN', `there is no event ${given}; /api/v1/incidents?kind=event lists them`)
}

/** The window of an event: up to now where it is open. */
function windowOf({ window, startMs, endMs }: TracebackEvent): { readonly fromMs: number; readonly toMs: number } {
  return window ?? { fromMs: startMs - 1000, toMs: endMs ?? Date.now() }
}

function questionOf(request: FastifyRequest, event: TracebackEvent): LaneSamplesRequest {
  const { lanes } = parameter(request, 'lanes')
  const keys = [...new Set(lanes?.split(','))].filter((key) => key !== '')
  if (keys.length === 0 || keys.length > LANES_MAX)
    throw new SondeError(
      'QRY_FORM',
      `lanes names ${keys.length} lanes; allowed: 1 to ${LANES_MAX} keys, with commas between`,
    )
  const whole = windowOf(event)
  const fromMs = numberIn(request, 'from') ?? whole.fromMs
  const toMs = numberIn(request, 'to') ?? whole.toMs
  const points = numberIn(request, 'points') ?? POINTS_DEFAULT
  if (fromMs < 0 || toMs <= fromMs || toMs > Number.MAX_SAFE_INTEGER)
    throw new SondeError('QRY_FORM', `from is ${fromMs} and to is ${toMs}; allowed: from 0 on, and to after from`)
  if (!Number.isInteger(points) || points < POINTS_MIN || points > POINTS_MAX)
    throw new SondeError('QRY_FORM', `points is ${points}; allowed: a whole number from ${POINTS_MIN} to ${POINTS_MAX}`)
  return { keys, fromMs, toMs, points }
}
