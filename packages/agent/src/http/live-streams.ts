import { SondeError } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { LiveRound, type Subscription } from './live-round.ts'
import type { LiveStream } from './live-stream.ts'

/** How often a query is evaluated, and for how many. */
interface Asked {
  readonly perSecond: number
  clients: number
}

/** All live streams of a server: who may join them, and the rounds in which they are served one after the other. */
export class LiveStreams {
  readonly #agent: Agent
  readonly #streams = new Set<LiveStream>()
  readonly #asked = new Map<string, Asked>()
  #timer: NodeJS.Timeout | undefined
  #isInRound = false
  #isEnded = false

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /**
   * Takes a place for a subscription, and gives what frees it again.
   *
   * @throws SondeError `STR_LIMIT` where as many streams are open, or as many different queries a second are evaluated, as are allowed.
   */
  admit({ keys, stepMs }: Subscription): () => void {
    const { http, options } = this.#agent
    const { stream_clients: clientLimit, stream_queries_per_s: queryLimit } = options.config.limits
    if (http.streams >= clientLimit) {
      http.refuse('stream_clients')
      const message = `${clientLimit} live streams are open; close one, or raise limits.stream_clients`
      throw new SondeError('STR_LIMIT', message)
    }
    const own = new Set(keys.map((key) => `${stepMs} ${key}`))
    const before = [...this.#asked.values()].reduce((sum, { perSecond }) => sum + perSecond, 0)
    const added = ([...own].filter((key) => !this.#asked.has(key)).length * 1000) / stepMs
    // What others ask already costs nothing more: it is let in whatever the limit.
    if (added > 0 && before + added > queryLimit) {
      http.refuse('stream_queries')
      throw new SondeError('STR_LIMIT', queriesMessage(before, added, queryLimit))
    }
    for (const key of own) {
      const asked = this.#asked.get(key)
      if (asked === undefined) this.#asked.set(key, { perSecond: 1000 / stepMs, clients: 1 })
      else asked.clients++
    }
    http.streams++
    return () => this.#release(own)
  }

  /** Serves a stream from now on. */
  add(stream: LiveStream): void {
    if (this.#isEnded) {
      stream.end()
      return
    }
    this.#streams.add(stream)
    this.#schedule()
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream)
  }

  /** Serving a stream failed by a fault of Sonde's own: it alone ends, and its client connects again. */
  failed(stream: LiveStream, error: unknown): void {
    this.#agent.faults.caught('live', error)
    stream.end()
  }

  /** Ends every stream, and whichever would join later. */
  end(): void {
    this.#isEnded = true
    for (const stream of this.#streams) stream.end()
  }

  #release(keys: ReadonlySet<string>): void {
    this.#agent.http.streams--
    for (const key of keys) {
      const asked = this.#asked.get(key)
      if (asked !== undefined && --asked.clients === 0) this.#asked.delete(key)
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#isInRound || this.#streams.size === 0) return
    const nowMs = Date.now()
    const waitMs = Math.min(...[...this.#streams].map((stream) => stream.waitMs(nowMs)))
    this.#timer = setTimeout(() => void this.#round(), waitMs)
  }

  /** A round that takes longer than a step delays the next one, which then covers more steps: rounds never overlap. */
  async #round(): Promise<void> {
    this.#isInRound = true
    const round = new LiveRound(this.#agent)
    for (const stream of this.#streams) {
      if (stream.waitMs(round.nowMs) > 0) continue
      await stream.advance(round).catch((error: unknown) => this.failed(stream, error))
      if (turn.isOver()) await turn.next()
    }
    this.#isInRound = false
    this.#schedule()
  }
}

function queriesMessage(before: number, added: number, limit: number): string {
  const asked = `the live streams evaluate ${Math.round(before)} different queries a second, and this one adds ${Math.round(added)}`
  return `${asked}; allowed: ${limit}. Take a larger stepMs or fewer queries, or raise limits.stream_queries_per_s`
}
