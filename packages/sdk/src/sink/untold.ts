import { NOT_ENCODED, type SinkStats } from './sink.ts'

/** Says in words what was dropped and has been reported to nobody yet. */
export class Untold {
  readonly #stats: Pick<SinkStats, 'dropped'>
  readonly #causeOf: (reason: string) => string
  #told: ReadonlyMap<string, number> = new Map()

  /** `causeOf` says in words what a reason means; empty where the reason speaks for itself. */
  constructor(stats: Pick<SinkStats, 'dropped'>, causeOf: (reason: string) => string = () => '') {
    this.#stats = stats
    this.#causeOf = causeOf
  }

  /** What was reported so far: two who wait at the same time are told the same. */
  get told(): ReadonlyMap<string, number> {
    return this.#told
  }

  /** Whether nothing was dropped beyond what was reported. */
  get isToldAll(): boolean {
    for (const [reason, records] of this.#stats.dropped) if (this.#told.get(reason) !== records) return false
    return true
  }

  /**
   * What was dropped beyond what was `told`, such as `3 records (2 too_large, 1 spool_full: the service was away)`;
   * empty where nothing was. It counts as told then.
   */
  tell(told = this.#told): string {
    const reasons: string[] = []
    let total = 0
    for (const [reason, records] of this.#stats.dropped) {
      const more = records - (told.get(reason) ?? 0)
      if (more === 0 || reason === NOT_ENCODED) continue
      total += more
      const cause = this.#causeOf(reason)
      reasons.push(`${more} ${reason}${cause === '' ? '' : `: ${cause}`}`)
    }
    this.#told = new Map(this.#stats.dropped)
    return total === 0 ? '' : `${recordsOf(total)} (${reasons.join(', ')})`
  }
}

/** A number of records, in words: `1 record`, `2 records`. */
function recordsOf(count: number): string {
  return count === 1 ? '1 record' : `${count} records`
}

/** The beginning of a sentence about so many records: `1 record is`, `2 records are`. */
export function recordsAre(count: number): string {
  return `${recordsOf(count)} ${count === 1 ? 'is' : 'are'}`
}
