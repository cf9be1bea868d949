import type { ServerResponse } from 'node:http'
import { answerToJson, messageOf, POINT_COUNT_LIMIT, type QueryAnswer, type SeriesQuery, SondeError } from '@sonde/sdk'
import type { Agent } from '../agent.ts'
import { describeNode } from './node.ts'

/** A sample may arrive this long after its time and still be in the first message that covers it. */
const SETTLE_MS = 250
const STATE_EVERY_MS = 10_000
/** While more than this waits for a client nothing more is written: the next message covers all the steps that it missed meanwhile. */
const BACKLOG_LIMIT_BYTES = 1 << 20
/** A client whose backlog does not shrink for this long is cut off; it resumes by its last id. */
const STALL_LIMIT_MS = 30_000
/** How far back a client may resume. */
const RESUME_LIMIT_MS = 3_600_000

/** What a client wants to follow. */
export interface Subscription {
  readonly queries: readonly SeriesQuery[]
  readonly stepMs: number
  /** Id of the last event that it has; undefined where it is new. */
  readonly lastMs: number | undefined
}

/** The last step whose samples have arrived. */
export function lastStepMs(stepMs: number): number {
  return Math.floor((Date.now() - SETTLE_MS) / stepMs) * stepMs
}

/** One client of the live stream: first what it missed, then every step once, and what it could not have as an event that says so. */
export class LiveStream {
  readonly #agent: Agent
  readonly #out: ServerResponse
  readonly #subscription: Subscription
  /** Everything up to this time was sent. */
  #sentMs: number
  #stateMs = Number.NEGATIVE_INFINITY
  #drainedMs = Date.now()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(agent: Agent, out: ServerResponse, subscription: Subscription) {
    this.#agent = agent
    this.#out = out
    this.#subscription = subscription
    this.#sentMs = lastStepMs(subscription.stepMs)
  }

  /** Sends what was missed, then goes on by itself until `close`. Never rejects. */
  async open(): Promise<void> {
    await this.#resume()
    this.#tick()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #tick(): void {
    if (this.#isClosed) return
    try {
      this.#advance(Date.now())
    } catch (error) {
      // More series than may be asked for have appeared, say. The client is told, and may ask for less.
      const code = error instanceof SondeError ? error.code : 'HTTP_FAULT'
      this.#agent.options.log.warn({ error }, 'a live stream ended')
      this.#send('fault', JSON.stringify({ code, message: messageOf(error) }))
      this.#out.end()
      return
    }
    if (this.#isClosed) return
    const { stepMs } = this.#subscription
    this.#timer = setTimeout(() => this.#tick(), lastStepMs(stepMs) + stepMs + SETTLE_MS - Date.now())
  }

  #advance(nowMs: number): void {
    if (this.#out.writableLength > BACKLOG_LIMIT_BYTES) {
      if (nowMs - this.#drainedMs > STALL_LIMIT_MS) this.#cut()
      return
    }
    this.#drainedMs = nowMs
    if (nowMs - this.#stateMs >= STATE_EVERY_MS) {
      this.#send('state', JSON.stringify(describeNode(this.#agent)))
      this.#stateMs = nowMs
    }
    const { stepMs, queries } = this.#subscription
    const toMs = lastStepMs(stepMs)
    // The clock was set back: go on from where it is now.
    if (toMs < this.#sentMs - 2 * stepMs) this.#sentMs = toMs
    if (toMs <= this.#sentMs) return
    // Memory does not reach back further; the process was suspended, or the clock was set forward.
    const reachMs = Math.min(this.#agent.options.config.limits.recent_window_s * 1000, POINT_COUNT_LIMIT * stepMs)
    const fromMs = Math.max(this.#sentMs, toMs - reachMs)
    if (fromMs > this.#sentMs)
      this.#sendGap(this.#sentMs, fromMs, 'the stream stood still for longer than memory reaches back')
    this.#sendPoints(this.#agent.recent.queryNow({ fromMs, toMs, stepMs, queries }))
    this.#sentMs = toMs
  }

  /** What the client missed, from history. */
  async #resume(): Promise<void> {
    const { queries, stepMs, lastMs } = this.#subscription
    const toMs = this.#sentMs
    if (lastMs === undefined || lastMs >= toMs) return
    const fromMs = Math.max(lastMs, toMs - Math.min(RESUME_LIMIT_MS, POINT_COUNT_LIMIT * stepMs))
    if (fromMs > lastMs) this.#sendGap(lastMs, fromMs, 'a live stream resumes at most an hour, and 11000 steps, back')
    try {
      const missed = await this.#agent.history.query({ fromMs, toMs, stepMs, queries })
      if (!this.#isClosed) this.#sendPoints(missed)
    } catch (error) {
      this.#agent.options.log.warn({ error }, 'a live stream could not resume from history')
      if (!this.#isClosed) this.#sendGap(fromMs, toMs, messageOf(error))
    }
  }

  #cut(): void {
    this.#agent.http.refuse('stream_stalled')
    this.close()
    this.#out.destroy()
  }

  #sendPoints(answer: QueryAnswer): void {
    this.#send('points', answerToJson(answer), answer.toMs)
  }

  #sendGap(fromMs: number, toMs: number, reason: string): void {
    this.#send('gap', JSON.stringify({ fromMs, toMs, reason }))
  }

  #send(event: string, data: string, id?: number): void {
    this.#out.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
  }
}
