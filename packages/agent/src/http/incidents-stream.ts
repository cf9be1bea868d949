import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { recentAnswer } from './incidents.ts'
import { eventText, startEvents } from './server-sent-events.ts'
import type { StreamSlot, StreamSlots } from './stream-slots.ts'

/** Address of the stream of incidents. */
export const INCIDENTS_STREAM = '/api/v1/incidents/stream'

/** How soon it is seen that something changed. Unit: milliseconds. */
const LOOK_MS = 250
/** Period of updates of an open incident, whose numbers change. Unit: milliseconds. */
const OPEN_EVERY_MS = 1000
/** Longest silence of a stream, so that a client sees that it is connected. Unit: milliseconds. */
const QUIET_MS = 10_000
/** A client that does not read for this time is disconnected. Unit: milliseconds. */
const STALL_LIMIT_MS = 30_000

/**
 * `GET /api/v1/incidents/stream`: the incidents of now and of the last hour whenever they change, as server-sent
 * events. It has a place among the live streams.
 */
export function incidentsStreamRoute(app: FastifyInstance, agent: Agent, places: StreamSlots): void {
  const open = new Set<IncidentStream>()
  const told = new ToldIncidents(agent)
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })
  app.get(INCIDENTS_STREAM, { exposeHeadRoute: false }, async (_request, reply) => {
    const place = places.take({ queries: [], keys: [], stepMs: LOOK_MS, lastMs: undefined })
    await agent.traceback.opened()
    reply.hijack()
    if (reply.raw.destroyed) place.release()
    else serve(open, { agent, told }, reply.raw, place)
  })
}

function serve(open: Set<IncidentStream>, from: StreamParts, out: ServerResponse, place: StreamSlot): void {
  startEvents(out)
  const stream = new IncidentStream(from, out)
  open.add(stream)
  place.onReplaced = () => {
    stream.fail('STR_LIMIT', 'another client took the place of this stream, which was open for longest; connect again')
  }
  out.once('close', () => {
    place.release()
    open.delete(stream)
    stream.close()
  })
}

/** Options of streams. */
interface StreamParts {
  readonly agent: Agent
  readonly told: ToldIncidents
}

/** What all streams send, made once for all of them: with many rules and clients it would be made again and again. */
class ToldIncidents {
  readonly #agent: Agent
  #version = ''
  #madeMs = Number.NEGATIVE_INFINITY
  #text = ''
  /** Open incidents in the last message. */
  openCount = 0

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /** The message, not older than streams look for changes. */
  message(): string {
    const version = versionOf(this.#agent)
    const nowMs = performance.now()
    if (version !== this.#version || nowMs - this.#madeMs >= LOOK_MS) {
      const answer = recentAnswer(this.#agent)
      this.openCount = answer.openCount
      this.#text = eventText('incidents', answer)
      this.#version = version
      this.#madeMs = nowMs
    }
    return this.#text
  }
}

/** One client: told of all recent incidents whenever they changed, and nothing while it does not read. */
class IncidentStream {
  readonly #agent: Agent
  readonly #told: ToldIncidents
  readonly #out: ServerResponse
  readonly #timer: NodeJS.Timeout
  #version = ''
  #sentMs = Number.NEGATIVE_INFINITY
  #drainedMs = performance.now()

  constructor({ agent, told }: StreamParts, out: ServerResponse) {
    this.#agent = agent
    this.#told = told
    this.#out = out
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#look()
  }

  /** Sends nothing more. */
  close(): void {
    clearInterval(this.#timer)
  }

  /** Ends it, and lets the client read what was sent. */
  end(): void {
    this.close()
    this.#out.end()
  }

  /** Ends it, and says why. */
  fail(code: string, message: string): void {
    this.#out.write(eventText('fault', { code, message }))
    this.end()
  }

  #look(): void {
    const nowMs = performance.now()
    if (this.#out.writableLength > 0) {
      if (nowMs - this.#drainedMs > STALL_LIMIT_MS) this.#cut()
      return
    }
    this.#drainedMs = nowMs
    const version = versionOf(this.#agent)
    const sinceMs = nowMs - this.#sentMs
    const isDue = sinceMs >= (this.#told.openCount > 0 ? OPEN_EVERY_MS : QUIET_MS)
    if (version === this.#version && !isDue) return
    this.#version = version
    this.#sentMs = nowMs
    try {
      this.#out.write(this.#told.message())
    } catch (error) {
      this.#agent.faults.caught('live', error)
      this.end()
    }
  }

  #cut(): void {
    this.#agent.http.refuse('stream_stalled')
    this.close()
    this.#out.destroy()
  }
}

/** Changes whenever a hint or an event opens or ends. */
function versionOf({ traceback, hints }: Agent): string {
  return `${traceback.version} ${hints.turns}`
}
