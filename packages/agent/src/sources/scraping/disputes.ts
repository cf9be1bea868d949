import type { DisputeStatus } from '@sonde/sdk/api'
import type { Conflict } from './claims.ts'
import type { Subject } from './subjects.ts'

/** Disputes of one exporter that are listed. Policy: the others are counted alone. */
const LISTED_MAX = 16
/** Disputes of one exporter that are kept apart. Policy: all further ones count as one, `others`. */
const APART_MAX = 1024
/** Length of a name from outside. Policy: the rest is cut off. Unit: characters. */
const NAME_LENGTH_MAX = 200

/** A GPU or pod of which an exporter tells, and which somebody else holds, for as long as both do. */
export class Dispute implements DisputeStatus {
  /** The key under which it is kept. */
  readonly id: string
  readonly subject: string
  key: string
  holder: string
  readonly sinceMs = Date.now()
  /** The scrape that last told of it, and its samples. */
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

  /** The dispute about a subject. */
  of({ name }: Subject, conflict: Conflict): Dispute {
    const told = { key: cut(conflict.key), holder: conflict.holder }
    const id = this.#disputes.has(name) || this.#disputes.size < APART_MAX ? name : ''
    const dispute = this.#disputes.get(id) ?? new Dispute(id, id === '' ? 'others' : cut(name), told)
    Object.assign(dispute, told)
    this.#disputes.set(id, dispute)
    return dispute
  }

  /** Counts a sample that a scrape refused for a dispute; a dispute that had ended begins again. */
  refuse(dispute: Dispute, scrape: number): void {
    if (dispute.scrape !== scrape) {
      dispute.scrape = scrape
      dispute.samples = 0
      this.#disputes.set(dispute.id, dispute)
    }
    dispute.samples++
  }

  /** Ends the disputes that this scrape did not see. Gives the others, and how many samples were refused for them. */
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

/** Says in words which party has what the dispute is about. */
export function holderWords({ subject, key, holder }: DisputeStatus): string {
  return `${holder} has ${key === subject ? 'it' : key}`
}

function cut(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX)}…`
}
