import { NOT_ENCODED, type SinkStats } from './sink.ts'

/** Records by reason. */
type Counts = ReadonlyMap<string, number>

/** Counts of drops: {@link SinkStats.dropped}, and the part that is only hidden. */
export interface DropCounts {
  readonly dropped: Counts
  /** The part of `dropped` that other sinks keep and that is only not shown here. Default: none. */
  readonly hidden?: Counts | undefined
}

/** Records dropped since the last report. */
export interface Drops {
  /** Lost records. */
  readonly lost: number
  /** Records that other sinks keep, and that are not shown here. */
  readonly hidden: number
  /** Both as the end of a sentence: `dropped 3 records (2 too_large, 1 closed)`; empty if both are 0. */
  readonly words: string
}

/** No drops. */
const NONE: Counts = new Map()

/** Reports each drop once, in words. */
export class UnreportedDrops {
  readonly #counts: DropCounts
  readonly #causeOf: (reason: string) => string
  #reported: Required<DropCounts> = { dropped: NONE, hidden: NONE }

  /** `causeOf` explains a reason in words; empty if it has no explanation. */
  constructor(counts: DropCounts, causeOf: (reason: string) => string = () => '') {
    this.#counts = counts
    this.#causeOf = causeOf
  }

  /** The state of the reports: two flushes at the same time report the same drops. */
  get reported(): Required<DropCounts> {
    return this.#reported
  }

  /** Whether all drops are reported. */
  get isAllReported(): boolean {
    for (const [reason, records] of this.#counts.dropped) {
      if (this.#reported.dropped.get(reason) !== records) return false
    }
    return true
  }

  /** Drops after the state `reported`; they count as reported now. */
  report(reported = this.#reported): Drops {
    const { dropped, hidden = NONE } = this.#counts
    const lost = new Map<string, number>()
    const unseen = new Map<string, number>()
    for (const [reason, records] of dropped) {
      if (reason === NOT_ENCODED) continue
      const hiddenMore = (hidden.get(reason) ?? 0) - (reported.hidden?.get(reason) ?? 0)
      const lostMore = records - (reported.dropped.get(reason) ?? 0) - hiddenMore
      if (lostMore > 0) lost.set(reason, lostMore)
      if (hiddenMore > 0) unseen.set(reason, hiddenMore)
    }
    this.#reported = { dropped: new Map(dropped), hidden: new Map(hidden) }
    const parts = [this.#words('dropped', lost), this.#words('does not show', unseen)].filter((part) => part !== '')
    return { lost: sumOf(lost), hidden: sumOf(unseen), words: parts.join(', and ') }
  }

  #words(verb: string, counts: Counts): string {
    if (counts.size === 0) return ''
    const reasons = Array.from(counts, ([reason, records]) => {
      const cause = this.#causeOf(reason)
      return `${records} ${reason}${cause === '' ? '' : `: ${cause}`}`
    })
    return `${verb} ${recordsOf(sumOf(counts))} (${reasons.join(', ')})`
  }
}

function sumOf(counts: Counts): number {
  let sum = 0
  for (const records of counts.values()) sum += records
  return sum
}

/** A number of records, in words: `1 record`, `2 records`. */
function recordsOf(count: number): string {
  return count === 1 ? '1 record' : `${count} records`
}

/** The start of a sentence about records: `1 record is`, `2 records are`. */
export function recordsAre(count: number): string {
  return `${recordsOf(count)} ${count === 1 ? 'is' : 'are'}`
}
