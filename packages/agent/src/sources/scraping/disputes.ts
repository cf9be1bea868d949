import type { DisputeStatus } from '@sonde/sdk/api'
import type { Conflict } from './claims.ts'
import type { Subject } from './subjects.ts'

/** Disputes of one exporter that the status lists. Policy: further disputes are only counted. */
const LISTED_MAX = 16
/** Disputes of one exporter that are counted separately. Policy: all further disputes count as one, `others`. */
const APART_MAX = 1024
/** Longest name from an exporter. Policy: the rest is cut off. Unit: characters. */
const NAME_LENGTH_MAX = 200

/** A GPU or pod that an exporter reports and another holds. It lasts until one of them stops. */
export class Dispute implements DisputeStatus {
  /** Unique key of the dispute. */
  readonly id: string
  readonly subject: string
  key: string
  holder: string
  readonly sinceMs = Date.now()
  /** The last scrape that contained the subject, and its refused samples. */
  scrape = 0
  samples = 0

  constructor(id: string, subject: string, { key, holder }: Conflict) {
    this.id = id
    this.subject = subject
    this.key = key
    this.holder = holder
  }
}

/** The disputes of one exporter. */
export class Disputes {
  listed: readonly DisputeStatus[] = []
  readonly #disputes = new Map<string, Dispute>()

  get count(): number {
    return this.#disputes.size
  }

  /** Returns the dispute about a subject. */
  of({ name }: Subject, conflict: Conflict): Dispute {
    const told = { key: cut(conflict.key), holder: conflict.holder }
    const id = this.#disputes.has(name) || this.#disputes.size < APART_MAX ? name : ''
    const dispute = this.#disputes.get(id) ?? new Dispute(id, id === '' ? 'others' : cut(name), told)
    Object.assign(dispute, told)
    this.#disputes.set(id, dispute)
    return dispute
  }

  /** Counts a sample that was refused because of a dispute. A dispute that had ended opens again. */
  refuse(dispute: Dispute, scrape: number): void {
    if (dispute.scrape !== scrape) {
      dispute.scrape = scrape
      dispute.samples = 0
      this.#disputes.set(dispute.id, dispute)
    }
    dispute.samples++
  }

  /**
   * Ends the disputes that did not occur in this scrape. Returns the open disputes, and how many samples they refused.
   */
  settle(scrape: number): { readonly samples: number; readonly listed: readonly DisputeStatus[] } {
    let samples = 0
    for (const [name, dispute] of this.#disputes) {
      if (dispute.scrape === scrape) samples += dispute.samples
      else this.#disputes.delete(name)
    }
    const first = [...this.#disputes.values().take(LISTED_MAX)]
    this.listed = first.map(({ subject, key, holder, sinceMs }) => ({ subject, key, holder, sinceMs }))
    return { samples, listed: this.listed }
  }

  clear(): void {
    this.#disputes.clear()
    this.listed = []
  }
}

/** Sentence that names the holder of the disputed subject. */
export function holderWords({ subject, key, holder }: DisputeStatus): string {
  return `${holder} has ${key === subject ? 'it' : key}`
}

function cut(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX)}…`
}
