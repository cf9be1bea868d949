import type { ServerResponse } from 'node:http'
import { SondeError } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/api'
import {
  type Asker,
  askerOf,
  messageOf,
  POINT_COUNT_LIMIT,
  parseQueries,
  queryReader,
  type SeriesQuery,
  stepOf,
} from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { writePoints } from './answer-parts.ts'
import { jsonParameter, type Queried } from './query.ts'
import { eventText, startEvents } from './server-sent-events.ts'
import { lastMsOf } from './stream.ts'

const STEP_MS_MIN = 100
const STEP_MS_MAX = 60_000
const STEP_MS_DEFAULT = 1000
/** How often a history is asked at most: scrapes are seldom closer. Unit: milliseconds. */
const ASK_MS_MIN = 2000
/** How often the state is told; a page takes a stream for dead that is silent for longer. Unit: milliseconds. */
const STATE_MS = 10_000
/** Streams at a time. Policy: further ones are refused. */
const STREAM_COUNT = 64
/** How far back a client may resume. Unit: milliseconds. */
const RESUME_LIMIT_MS = 3_600_000
/** Who is further behind asks a query like any other. Unit: milliseconds. */
const CATCH_UP_MS = 2 * STEP_MS_MAX

/** Options of a stream that polls a history. */
export interface Polled extends Queried {
  /** What `/api/v1/node` answers. */
  readonly state: () => NodeAnswer
  /** How late samples can be found: each step is told so much later. Unit: milliseconds. Default: at once. */
  readonly latencyMs?: () => number
}

/**
 * `GET /api/v1/stream` over a history that is asked again and again, where no records come by themselves. It speaks as
 * the stream of an agent does. A failure of the history is told as a gap once it answers again.
 */
export function polledStreamRoute(app: FastifyInstance, polled: Polled): void {
  const open = new Set<PolledStream>()
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })
  app.get('/api/v1/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const asked = askedOf(request)
    if (open.size >= STREAM_COUNT) {
      polled.http.refuse('stream_clients')
      throw new SondeError('STR_LIMIT', `${STREAM_COUNT} streams are open; close one, or ask for a window that stands`)
    }
    reply.hijack()
    const stream = new PolledStream(polled, { out: reply.raw, asker: askerOf(request) }, asked)
    open.add(stream)
    polled.http.streams = open.size
    reply.raw.once('close', () => {
      stream.close()
      open.delete(stream)
      polled.http.streams = open.size
    })
    stream.start()
  })
}

interface AskedStream {
  readonly stepMs: number
  readonly queries: readonly SeriesQuery[]
  readonly afterMs: number | undefined
}

function askedOf(request: FastifyRequest): AskedStream {
  const { stepMs: step = STEP_MS_DEFAULT, queries } = queryReader.object('q', jsonParameter(request), [
    'stepMs',
    'queries',
  ])
  const stepMs = stepOf(step, STEP_MS_DEFAULT)
  if (stepMs < STEP_MS_MIN || stepMs > STEP_MS_MAX)
    throw new SondeError('QRY_FORM', `stepMs is ${stepMs}; a live stream takes ${STEP_MS_MIN} to ${STEP_MS_MAX}`)
  return { stepMs, queries: parseQueries(queries), afterMs: lastMsOf(request) }
}

class PolledStream {
  readonly #polled: Polled
  readonly #out: ServerResponse
  readonly #asker: Asker
  readonly #asked: AskedStream
  #sentMs: number
  #stateMs = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The reason of the gap. */
  #missed = 'a live stream resumes at most an hour, and 11000 steps, back'
  #isClosed = false

  constructor(polled: Polled, { out, asker }: { out: ServerResponse; asker: Asker }, asked: AskedStream) {
    this.#polled = polled
    this.#out = out
    this.#asker = asker
    this.#asked = asked
    const nowMs = this.#lastStepMs()
    this.#sentMs = Math.min(nowMs, asked.afterMs ?? nowMs)
  }

  start(): void {
    startEvents(this.#out)
    void this.#turn()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  end(): void {
    this.close()
    this.#out.end()
  }

  async #turn(): Promise<void> {
    const nowMs = Date.now()
    // No query for a client that does not read; the next answer includes the missed steps.
    if (this.#out.writableLength === 0) {
      if (Math.abs(nowMs - this.#stateMs) >= STATE_MS) {
        this.#out.write(eventText('state', this.#polled.state()))
        this.#stateMs = nowMs
      }
      await this.#points()
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#turn(), Math.max(this.#asked.stepMs, ASK_MS_MIN))
  }

  async #points(): Promise<void> {
    const { stepMs, queries } = this.#asked
    const toMs = this.#lastStepMs()
    const fromMs = Math.max(this.#sentMs, toMs - Math.min(RESUME_LIMIT_MS, POINT_COUNT_LIMIT * stepMs))
    if (toMs <= fromMs) return
    try {
      const { history, places, unread } = this.#polled
      const ask = () => history.query({ fromMs, toMs, stepMs, queries }, this.#asker)
      // Polling uses no query place of other clients: the limit of streams applies to it.
      const answer = await (toMs - fromMs > CATCH_UP_MS ? places.take(this.#asker, ask) : ask())
      if (this.#isClosed) return
      if (fromMs > this.#sentMs)
        this.#out.write(eventText('gap', { fromMs: this.#sentMs, toMs: fromMs, reason: this.#missed }))
      await writePoints(this.#out, answer, { unread, isOver: () => this.#isClosed })
      this.#sentMs = toMs
    } catch (error) {
      this.#missed = messageOf(error)
      if (error instanceof SondeError && error.code === 'QRY_FORM') this.#fail(error)
    }
  }

  #fail({ code, message }: SondeError): void {
    if (this.#isClosed) return
    this.#out.write(eventText('fault', { code, message }))
    this.end()
  }

  #lastStepMs(): number {
    const { stepMs } = this.#asked
    return Math.floor((Date.now() - (this.#polled.latencyMs?.() ?? 0)) / stepMs) * stepMs
  }
}
