import { SondeError } from '../errors.ts'
import { CANDIDATE_COUNT_LIMIT } from './form.ts'

/** Counts the series and records that the queries of a request would read, before any is read. */
export class Candidates {
  #count = 0
  #dearest = { metric: '', count: 0 }

  /** Adds the candidates of one query. */
  add(metric: string, count: number): void {
    this.#count += count
    if (count > this.#dearest.count) this.#dearest = { metric, count }
  }

  /** @throws SondeError `QRY_COST_LIMIT` if the candidates exceed the limit. */
  check(): void {
    if (this.#count <= CANDIDATE_COUNT_LIMIT) return
    const { metric, count } = this.#dearest
    throw new SondeError(
      'QRY_COST_LIMIT',
      `the request looks through ${this.#count} series and records, ${count} of them for ${metric}; at most ${CANDIDATE_COUNT_LIMIT} a request: take a shorter window, or fewer questions and matchers at a time`,
    )
  }
}
