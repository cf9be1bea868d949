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
  readonly #advice: string
  /** Queries that are being answered here. */
  #taken = 0
  readonly #waiting = new AskerQueue<Waiting>()

  /**
   * @param limit How many are answered at a time.
   * @param advice What a client that is refused can do.
   */
  constructor(http: HttpStats, limit: number, advice = 'ask again, or raise limits.parallel_queries') {
    this.#http = http
    this.#limit = limit
    this.#advice = advice
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
    if (this.#taken >= this.#limit) await this.#turn(asker)
    else this.#reserve()
    try {
      return await ask()
    } catch (error) {
      if (error instanceof SondeError && error.code.endsWith('_LIMIT')) this.#http.refuse('query_cost')
      throw error
    } finally {
      this.#taken--
      this.#http.queries--
      this.#next()
    }
  }

  #reserve(): void {
    this.#taken++
    this.#http.queries++
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
        this.#reserve()
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
    while (this.#taken < this.#limit) {
      const next = this.#waiting.next()
      if (next === undefined) return
      if (next.asker.isGone()) next.refuse(hasLeft())
      else next.begin()
    }
  }

  #busy(): SondeError {
    this.#http.refuse('parallel_queries')
    return new SondeError('QRY_BUSY', `${this.#limit} queries are being answered, and others wait; ${this.#advice}`)
  }
}

function hasLeft(): SondeError {
  return new SondeError('QRY_BUSY', 'the client left before its turn came')
}
