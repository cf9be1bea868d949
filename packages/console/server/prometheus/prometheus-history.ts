import { gridOf, type History, type QueryAnswer, type QueryRequest } from '@sonde/sdk'
import { answerOf } from './answer.ts'
import { Breaker } from './breaker.ts'
import { PrometheusClient } from './client.ts'
import { compileAll } from './compile.ts'

/** An answer is given again for so long: several pages ask the same. Unit: milliseconds. */
const FRESH_MS = 1000
/** Answers that are kept; the oldest leave first. */
const KEPT_COUNT = 32

interface Kept {
  readonly answer: Promise<QueryAnswer>
  /** When it came; ∞ while it is awaited. */
  cameMs: number
}

/**
 * Opens the history of a Prometheus-compatible server; nothing is asked before the first question.
 *
 * @param address An http or https URL, with user and password where the server wants them.
 * @throws SondeError `BKD_URL` where it is none.
 */
export function openPrometheus(address: string): PrometheusHistory {
  return new PrometheusHistory(new PrometheusClient(address))
}

/**
 * A history that a Prometheus-compatible server keeps. All questions of a request are one round trip; the same request
 * is asked once at a time, and answered again for a second.
 */
export class PrometheusHistory implements History {
  /** Address of the server, without user and password. */
  readonly shown: string
  readonly #client: PrometheusClient
  readonly #breaker = new Breaker()
  readonly #kept = new Map<string, Kept>()

  constructor(client: PrometheusClient) {
    this.shown = client.shown
    this.#client = client
  }

  /** @throws SondeError as {@link History}, and `BKD_…` where the server gives no answer. */
  query(request: QueryRequest): Promise<QueryAnswer> {
    const key = JSON.stringify(request)
    const nowMs = performance.now()
    const known = this.#kept.get(key)
    if (known !== undefined && nowMs - known.cameMs < FRESH_MS) return known.answer
    const kept: Kept = { answer: this.#ask(request, nowMs), cameMs: Number.POSITIVE_INFINITY }
    this.#kept.set(key, kept)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_COUNT) break
      this.#kept.delete(oldest)
    }
    kept.answer.then(
      () => {
        kept.cameMs = performance.now()
      },
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key)
      },
    )
    return kept.answer
  }

  async #ask(request: QueryRequest, nowMs: number): Promise<QueryAnswer> {
    const { fromMs, toMs, stepMs, queries } = request
    const times = gridOf(fromMs, toMs, stepMs)
    const [firstMs, lastMs] = [times[0], times.at(-1)]
    if (firstMs === undefined || lastMs === undefined || queries.length === 0) return answerOf(request, times, NOTHING)
    const expression = compileAll(queries, stepMs)
    return this.#breaker.through(nowMs, async () => {
      return answerOf(request, times, await this.#client.queryRange(expression, firstMs, lastMs, stepMs))
    })
  }
}

const NOTHING = { status: 'success', data: { resultType: 'matrix', result: [] } }
