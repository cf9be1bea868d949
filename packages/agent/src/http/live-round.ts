import { SondeError } from '@sonde/sdk'
import {
  answerToJsonParts,
  type QueryAnswer,
  type QueryResult,
  type SeriesQuery,
  turn,
  VALUE_COUNT_LIMIT,
} from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { describeNode } from './node.ts'
import { eventText } from './server-sent-events.ts'

/** The subscription of a client. */
export interface Subscription {
  readonly queries: readonly SeriesQuery[]
  /** Text that is the same for equal queries, one a query. */
  readonly keys: readonly string[]
  readonly stepMs: number
  /** Id of the last event that it has; undefined if it is new. Unit: milliseconds since the Unix epoch. */
  readonly lastMs: number | undefined
}

/** A subscription with parsed queries; equal subscriptions have equal keys. */
export function subscriptionTo(queries: readonly SeriesQuery[], stepMs: number, lastMs?: number): Subscription {
  return { queries, keys: queries.map((query) => JSON.stringify(query)), stepMs, lastMs }
}

/**
 * The shared state of one round over all clients. Equal queries of the same steps share the answer, and equal
 * subscriptions share its text, until the round ends.
 */
export class LiveRound {
  /** The instant that all clients of the round are answered for. Unit: milliseconds since the Unix epoch. */
  readonly nowMs = Date.now()
  readonly #agent: Agent
  readonly #results = new Map<string, QueryResult>()
  readonly #texts = new Map<string, string>()
  #state: string | undefined
  #hints: string | undefined

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /** The event `state`. */
  state(): string {
    this.#state ??= eventText('state', describeNode(this.#agent))
    return this.#state
  }

  /** The event `hints`. */
  hints(): string {
    this.#hints ??= eventText('hints', this.#agent.hints.answer())
    return this.#hints
  }

  /**
   * The answer to a subscription over some steps, as JSON.
   *
   * @throws SondeError `QRY_FORM`, `QRY_SERIES_LIMIT` or `QRY_COST_LIMIT` if it cannot be answered.
   */
  async points({ queries, keys, stepMs }: Subscription, fromMs: number, toMs: number): Promise<string> {
    const place = `${stepMs} ${fromMs} ${toMs}`
    const whole = `${place} ${keys.join()}`
    const shared = this.#texts.get(whole)
    if (shared !== undefined) return shared
    const results: QueryResult[] = []
    let times: Float64Array = new Float64Array()
    let values = 0
    for (const [index, query] of queries.entries()) {
      const key = `${place} ${keys[index]}`
      let result = this.#results.get(key)
      if (result === undefined) {
        if (turn.isOver()) await turn.next()
        const answer = this.#agent.recent.queryNow({ fromMs, toMs, stepMs, queries: [query] })
        result = answer.results[0] as QueryResult
        times = answer.times
        this.#results.set(key, result)
      }
      values += result.series.reduce((sum, series) => sum + series.values.length, 0)
      if (values > VALUE_COUNT_LIMIT) throw tooManyValues()
      results.push(result)
    }
    if (times.length === 0) times = this.#agent.recent.queryNow({ fromMs, toMs, stepMs, queries: [] }).times
    const text = await answerJson({ fromMs, toMs, stepMs, times, results })
    this.#texts.set(whole, text)
    return text
  }
}

async function answerJson(answer: QueryAnswer): Promise<string> {
  let text = ''
  for (const part of answerToJsonParts(answer)) {
    text += part
    if (turn.isOver()) await turn.next()
  }
  return text
}

function tooManyValues(): SondeError {
  return new SondeError(
    'QRY_COST_LIMIT',
    `a message of the stream would hold over ${VALUE_COUNT_LIMIT} values, series times points; follow less, or take a larger stepMs`,
  )
}
