import type { ServerResponse } from 'node:http'
import { SondeError } from '@sonde/sdk'
import type { StreamGap } from '@sonde/sdk/api'
import { type Asker, messageOf, POINT_COUNT_LIMIT, type QueryAnswer } from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { writePoints } from './answer-parts.ts'
import type { LiveRound, Subscription } from './live-round.ts'
import type { Queried } from './query.ts'
import { EVENT_END, eventStart, eventText } from './server-sent-events.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** A sample may arrive this long after its time and still be in the first message that covers it. */
const SETTLE_MS = 250
const STATE_EVERY_MS = 10_000
/** The shortest time between updates of hints of which only the numbers changed. */
const HINTS_EVERY_MS = 1000
/** Period of checks for opened, standing and ended hints. */
const HINTS_LOOK_MS = 250
/** A client that has not taken what was sent for this long is cut off; it resumes by its last id. */
const STALL_LIMIT_MS = 30_000
/** How far back a client may resume. */
const RESUME_LIMIT_MS = 3_600_000
const STOOD_STILL = 'the stream stood still for longer than memory reaches back'

/** The last event of a reconnecting client. */
export interface Missed {
  readonly gaps: readonly StreamGap[]
  /** Undefined if it missed nothing, or history cannot say what. */
  readonly answer: QueryAnswer | undefined
}

/** The last step with complete samples. */
export function lastStepMs(stepMs: number, nowMs: number = Date.now()): number {
  return Math.floor((nowMs - SETTLE_MS) / stepMs) * stepMs
}

/**
 * One client of the live stream, served in rounds: first the missed steps, then every step once, and an event for each
 * gap.
 */
export class LiveStream {
  readonly #agent: Agent
  readonly #out: ServerResponse
  readonly #subscription: Subscription
  /** Everything up to this time was sent. */
  #sentMs: number
  #stateMs = Number.NEGATIVE_INFINITY
  #hintsMs = Number.NEGATIVE_INFINITY
  /** Versions of the sent hints. */
  #hintsVersion = -1
  #hintTurns = -1
  #drainedMs = Date.now()
  /** When the next step is there, or the state is to be told again. */
  #dueMs = 0
  #isResuming = false
  #isClosed = false

  constructor(agent: Agent, out: ServerResponse, subscription: Subscription) {
    this.#agent = agent
    this.#out = out
    this.#subscription = subscription
    this.#sentMs = lastStepMs(subscription.stepMs)
  }

  /** How long until there is something to send; never longer than a step, also where the clock was set back. */
  waitMs(nowMs: number): number {
    const waitMs = this.#dueMs - nowMs
    return waitMs > this.#subscription.stepMs ? 0 : Math.max(0, waitMs)
  }

  /** Sends new steps. If they are no longer available, the stream ends with the reason. Never rejects. */
  async advance(round: LiveRound): Promise<void> {
    if (this.#isClosed) return
    const { stepMs } = this.#subscription
    this.#dueMs = Math.min(lastStepMs(stepMs, round.nowMs) + stepMs + SETTLE_MS, round.nowMs + HINTS_LOOK_MS)
    try {
      await this.#advance(round)
    } catch (error) {
      if (this.#isClosed) return
      // More series than may be asked for have appeared, say. The client is told, and may ask for less.
      const code = error instanceof SondeError ? error.code : 'HTTP_FAULT'
      this.#agent.options.log.warn({ error }, 'a live stream ended')
      this.fail(code, messageOf(error))
    }
  }

  /** Ends the stream with a reason. */
  fail(code: string, message: string): void {
    if (this.#isClosed) return
    // Nothing can be said in the midst of an event.
    if (this.#isResuming || this.#out.writableLength > 0) {
      this.close()
      this.#out.destroy()
      return
    }
    this.#out.write(eventText('fault', { code, message }))
    this.end()
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true
  }

  /** Closes it, and lets the client read what was sent. */
  end(): void {
    this.close()
    this.#out.end()
  }

  async #advance(round: LiveRound): Promise<void> {
    const { nowMs } = round
    // Nothing is made for who does not read: the next message covers all the steps that it missed meanwhile.
    if (this.#out.writableLength > 0) {
      if (nowMs - this.#drainedMs > STALL_LIMIT_MS) this.#cut()
      return
    }
    this.#drainedMs = nowMs
    if (nowMs - this.#stateMs >= STATE_EVERY_MS) {
      this.#out.write(round.state())
      this.#stateMs = nowMs
    }
    this.#sendHints(round)
    const { stepMs } = this.#subscription
    const toMs = lastStepMs(stepMs, nowMs)
    // The clock was set back: go on from where it is now.
    if (toMs < this.#sentMs - 2 * stepMs) this.#sentMs = toMs
    if (toMs <= this.#sentMs) return
    // Memory does not reach back further; the process was suspended, or the clock was set forward.
    const reachMs = Math.min(this.#agent.options.config.limits.recent_window_s * 1000, POINT_COUNT_LIMIT * stepMs)
    const fromMs = Math.max(this.#sentMs, toMs - reachMs)
    if (fromMs > this.#sentMs)
      this.#out.write(eventText('gap', { fromMs: this.#sentMs, toMs: fromMs, reason: STOOD_STILL }))
    const text = await round.points(this.#subscription, fromMs, toMs)
    if (this.#isClosed) return
    this.#out.write(`${eventStart('points', toMs)}${text}${EVENT_END}`)
    this.#sentMs = toMs
  }

  /**
   * Sends the missed steps from the history; steps that it does not have are a gap.
   *
   * @throws SondeError `QRY_BUSY` if no place for a query became free; a later attempt loses no step.
   */
  async missed({ history, places }: Queried, asker: Asker): Promise<Missed> {
    const { queries, stepMs, lastMs } = this.#subscription
    const toMs = this.#sentMs
    if (lastMs === undefined || lastMs >= toMs) return { gaps: [], answer: undefined }
    const fromMs = Math.max(lastMs, toMs - Math.min(RESUME_LIMIT_MS, POINT_COUNT_LIMIT * stepMs))
    const reason = 'a live stream resumes at most an hour, and 11000 steps, back'
    const gaps = fromMs > lastMs ? [{ fromMs: lastMs, toMs: fromMs, reason }] : []
    try {
      const request = { fromMs, toMs, stepMs, queries }
      return { gaps, answer: await places.take(asker, () => history.query(request, asker)) }
    } catch (error) {
      if (error instanceof SondeError && error.code === 'QRY_BUSY') throw error
      this.#agent.options.log.warn({ error }, 'a live stream could not resume from history')
      return { gaps: [...gaps, { fromMs, toMs, reason: messageOf(error) }], answer: undefined }
    }
  }

  /** Sends what the client missed, as it reads it. Never rejects. */
  async resume({ gaps, answer }: Missed, unread: UnreadAnswers): Promise<void> {
    for (const gap of gaps) this.#out.write(eventText('gap', gap))
    if (answer === undefined) return
    this.#isResuming = true
    await writePoints(this.#out, answer, { unread, isOver: () => this.#isClosed })
    this.#isResuming = false
    this.#drainedMs = Date.now()
  }

  /** Once at the start, then whenever they changed. */
  #sendHints(round: LiveRound): void {
    const { version, turns } = this.#agent.hints
    const isDue = Math.abs(round.nowMs - this.#hintsMs) >= HINTS_EVERY_MS
    if (turns === this.#hintTurns && (version === this.#hintsVersion || !isDue)) return
    this.#hintsVersion = version
    this.#hintTurns = turns
    this.#hintsMs = round.nowMs
    this.#out.write(round.hints())
  }

  #cut(): void {
    this.#agent.http.refuse('stream_stalled')
    this.close()
    this.#out.destroy()
  }
}
