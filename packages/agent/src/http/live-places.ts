import { SondeError } from '@sonde/sdk'
import type { Agent } from '../agent.ts'
import type { Subscription } from './live-round.ts'

/** How long a stream keeps its place whoever comes. Unit: milliseconds. */
const TENURE_MS = 60_000

/** The place of one stream. */
export interface Place {
  /** Frees it. May be called twice. */
  release(): void
  /** Called when another stream took it. Default: nobody is told. */
  onReplaced: () => void
}

/** A place that is taken, and what its stream asks. */
interface Taken extends Place {
  readonly keys: ReadonlySet<string>
  readonly stepMs: number
  readonly sinceMs: number
}

/**
 * The places of live streams, and the queries that they have evaluated. Where a limit is reached, the streams that are
 * open for longest make room for a new one, each once it was open for a minute: all who ask come from one address on
 * loopback, and so nobody can hold the live view for good.
 */
export class LivePlaces {
  readonly #agent: Agent
  /** In the order in which they were taken. */
  readonly #taken = new Set<Taken>()

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /**
   * Takes a place for a subscription.
   *
   * @throws SondeError `STR_LIMIT` where as many streams are open, or as many different queries a second are evaluated,
   * as are allowed, and none of them makes room.
   */
  take({ keys, stepMs }: Subscription): Place {
    const own = new Set(keys.map((key) => `${stepMs} ${key}`))
    const leaving = this.#leavingFor(own, stepMs)
    for (const place of leaving) {
      this.#agent.http.refuse('stream_replaced')
      place.release()
      place.onReplaced()
    }
    const release = () => {
      if (this.#taken.delete(place)) this.#agent.http.streams--
    }
    const place: Taken = { keys: own, stepMs, sinceMs: performance.now(), release, onReplaced: () => undefined }
    this.#taken.add(place)
    this.#agent.http.streams++
    return place
  }

  /** The streams that make room for what is asked: none if there is room. */
  #leavingFor(own: ReadonlySet<string>, stepMs: number): readonly Taken[] {
    const { stream_clients: clientLimit, stream_queries_per_s: queryLimit } = this.#agent.options.config.limits
    const leaving: Taken[] = []
    const load = new Load(this.#taken)
    const staying = [...this.#taken]
    const hasPlace = () => staying.length < clientLimit
    // What others ask already costs nothing more: it is let in whatever the limit.
    const hasQueries = () => load.added(own, stepMs) === 0 || load.perSecond + load.added(own, stepMs) <= queryLimit
    const [before, added] = [load.perSecond, load.added(own, stepMs)]
    const isFull = !hasPlace()
    while (!hasPlace() || !hasQueries()) {
      const oldest = staying.shift()
      if (oldest === undefined || performance.now() - oldest.sinceMs < TENURE_MS) {
        throw this.#refused(isFull ? placesMessage(clientLimit) : queriesMessage(before, added, queryLimit), isFull)
      }
      load.remove(oldest)
      leaving.push(oldest)
    }
    return leaving
  }

  #refused(message: string, isFull: boolean): SondeError {
    this.#agent.http.refuse(isFull ? 'stream_clients' : 'stream_queries')
    return new SondeError('STR_LIMIT', message)
  }
}

/** What streams ask: a query counts once a step, for however many of them. */
class Load {
  /** Unit: queries a second. */
  perSecond = 0
  /** By query and step: how many streams ask it. */
  readonly #asked = new Map<string, number>()

  constructor(places: Iterable<Taken>) {
    for (const { keys, stepMs } of places) {
      this.perSecond += this.added(keys, stepMs)
      for (const key of keys) this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1)
    }
  }

  /** What another stream would add. Unit: queries a second. */
  added(keys: ReadonlySet<string>, stepMs: number): number {
    let count = 0
    for (const key of keys) if (!this.#asked.has(key)) count++
    return (count * 1000) / stepMs
  }

  /** A stream asks no more. */
  remove({ keys, stepMs }: Taken): void {
    for (const key of keys) {
      const streams = (this.#asked.get(key) ?? 0) - 1
      if (streams > 0) this.#asked.set(key, streams)
      else this.#asked.delete(key)
    }
    this.perSecond -= this.added(keys, stepMs)
  }
}

function placesMessage(limit: number): string {
  return `${limit} live streams are open; close one, or raise limits.stream_clients`
}

function queriesMessage(before: number, added: number, limit: number): string {
  const asked = `the live streams evaluate ${Math.round(before)} different queries a second, and this one adds ${Math.round(added)}`
  return `${asked}; allowed: ${limit}. Take a larger stepMs or fewer queries, or raise limits.stream_queries_per_s`
}
