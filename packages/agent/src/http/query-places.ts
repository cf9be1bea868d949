import { SondeError } from '@sonde/sdk'
import { type Asker, AskerQueue } from '@sonde/sdk/internal'
import type { HttpStats } from '../pipeline/http-stats.ts'

/** Questions that wait for a place. Policy: the newest of the client that has most waiting is refused. */
const WAITING_COUNT = 1000
/**
 * How long a question waits for a place. Policy: it is refused. Shorter than the silence after which its connection is
 * closed. Unit: milliseconds.
 */
const WAIT_LIMIT_MS = 20_000

interface Waiting {
  readonly asker: Asker
  readonly timer: NodeJS.Timeout
  readonly begin: () => void
  readonly refuse: (error: SondeError) => void
}

/**
 * The places of queries that are answered at a time. A query that finds none free waits. Clients take turns, so that a
 * busy client waits behind the others. A place is free again when there is an answer, whether or not the client reads
 * it.
 */
export class QueryPlaces {
  readonly #http: HttpStats
  readonly #limit: number
  readonly #waiting = new AskerQueue<Waiting>()

  /** @param limit How many are answered at a time. */
  constructor(http: HttpStats, limit: number) {
    this.#http = http
    this.#limit = limit
  }

  /** Questions that wait for a place. */
  get waitingCount(): number {
    return this.#waiting.count
  }

  /**
   * Runs a query when a place is free.
   *
   * @throws SondeError `QRY_BUSY` if no place became free; the errors of `ask`.
   */
  async take<T>(asker: Asker, ask: () => Promise<T>): Promise<T> {
    if (this.#http.queries >= this.#limit) await this.#turn(asker)
    else this.#http.queries++
    try {
      return await ask()
    } catch (error) {
      if (error instanceof SondeError && error.code.endsWith('_LIMIT')) this.#http.refuse('query_cost')
      throw error
    } finally {
      this.#http.queries--
      this.#next()
    }
  }

  /** Resolves when a place is reserved. */
  #turn(asker: Asker): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (error: SondeError) => {
        clearTimeout(timer)
        reject(error)
      }
      const begin = () => {
        clearTimeout(timer)
        this.#http.queries++
        resolve()
      }
      const timer = setTimeout(() => {
        if (this.#waiting.remove(asker, waiting)) refuse(this.#busy())
      }, WAIT_LIMIT_MS).unref()
      const waiting = { asker, timer, begin, refuse }
      this.#waiting.add(asker, waiting)
      if (this.#waiting.count > WAITING_COUNT) this.#waiting.takeFromLargest()?.refuse(this.#busy())
    })
  }

  #next(): void {
    while (this.#http.queries < this.#limit) {
      const next = this.#waiting.next()
      if (next === undefined) return
      if (next.asker.isGone()) next.refuse(hasLeft())
      else next.begin()
    }
  }

  #busy(): SondeError {
    this.#http.refuse('parallel_queries')
    return new SondeError(
      'QRY_BUSY',
      `${this.#limit} queries are being answered, and others wait; ask again, or raise limits.parallel_queries`,
    )
  }
}

function hasLeft(): SondeError {
  return new SondeError('QRY_BUSY', 'the client left before its turn came')
}
