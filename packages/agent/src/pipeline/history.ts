import { SondeError } from '@sonde/sdk'
import type { Asker, History, HistoryStatus, QueryAnswer, QueryRequest } from '@sonde/sdk/internal'
import type { RecentRing } from './recent.ts'

/** What a store answers that has nothing to say now; everything else is the fault of the question. */
const UNAVAILABLE = new Set(['STO_UNAVAILABLE', 'STO_WORKER', 'STO_BUSY', 'STO_TIMEOUT', 'STO_READ'])

/** A history whose last minutes are there also while the store fails: they are in memory anyway. */
export class BackedHistory implements History {
  readonly #store: History
  readonly #recent: RecentRing
  readonly #status: () => HistoryStatus

  constructor(store: History, recent: RecentRing, status: () => HistoryStatus) {
    this.#store = store
    this.#recent = recent
    this.#status = status
  }

  async query(request: QueryRequest, asker?: Asker): Promise<QueryAnswer> {
    // A failing store has no new records; the ring has them, if it reaches back far enough.
    if (this.#status().state === 'failing' && request.fromMs >= this.#recent.sinceMs()) {
      return await this.#recent.query(request)
    }
    try {
      return await this.#store.query(request, asker)
    } catch (error) {
      if (error instanceof SondeError && UNAVAILABLE.has(error.code)) return await this.#recent.query(request)
      throw error
    }
  }
}
