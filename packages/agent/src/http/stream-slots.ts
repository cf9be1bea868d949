import { SondeError } from '@sonde/sdk'
import type { Agent } from '../agent.ts'
import type { Subscription } from './live-round.ts'

/** How long a stream keeps its place whoever comes. Unit: milliseconds. */
const TENURE_MS = 60_000

/** The slot of one stream. */
export interface StreamSlot {
  /** Frees it. May be called twice. */
  release(): void
  /** Called when another stream took it. Default: nobody is told. */
  onReplaced: () => void
}

/** A used slot, and the queries of its stream. */
interface UsedSlot extends StreamSlot {
  readonly keys: ReadonlySet<string>
  readonly stepMs: number
  readonly sinceMs: number
}

/**
 * Limits the live streams and their queries. At a limit, the oldest streams are replaced by a new stream, each after at
 * least a minute. On loopback all clients have the same address, so this is how no client can occupy the live view for
 * ever.
 */
export class StreamSlots {
  readonly #agent: Agent
  /** In the order of their start. */
  readonly #taken = new Set<UsedSlot>()

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /**
   * Reserves a slot for a subscription.
   *
   * @throws SondeError `STR_LIMIT` if the limit of streams, or of different queries a second, is reached and no stream
   * may be replaced.
   */
  take({ keys, stepMs }: Subscription): StreamSlot {
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
    const place: UsedSlot = { keys: own, stepMs, sinceMs: performance.now(), release, onReplaced: () => undefined }
    this.#taken.add(place)
    this.#agent.http.streams++
    return place
  }

  /** The streams to replace for a new stream; none if the limits allow it. */
  #leavingFor(own: ReadonlySet<string>, stepMs: number): readonly UsedSlot[] {
    const { stream_clients: clientLimit, stream_queries_per_s: queryLimit } = this.#agent.options.config.limits
    const leaving: UsedSlot[] = []
    const load = new Load(this.#taken)
    const staying = [...this.#taken]
    const hasPlace = () => staying.length < clientLimit
    // Queries that other streams already ask cost nothing more: they are allowed above the limit.
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

/** The queries of all streams: equal queries of a step count once. */
class Load {
  /** Unit: queries a second. */
  perSecond = 0
  /** By query and step: how many streams ask it. */
  readonly #asked = new Map<string, number>()

  constructor(places: Iterable<UsedSlot>) {
    for (const { keys, stepMs } of places) {
      this.perSecond += this.added(keys, stepMs)
      for (const key of keys) this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1)
    }
  }

  /** The queries that another stream would add. Unit: queries a second. */
  added(keys: ReadonlySet<string>, stepMs: number): number {
    let count = 0
    for (const key of keys) if (!this.#asked.has(key)) count++
    return (count * 1000) / stepMs
  }

  /** A stream asks no more. */
  remove({ keys, stepMs }: UsedSlot): void {
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
