import type { MetricTable } from './metric-table.ts'
import { advance, type Job } from './settling.ts'
import type { Tables } from './tables.ts'

/** After a walk no other begins for so long. Unit: milliseconds. */
const PAUSE_MS = 1000

/** Takes out what had no record for so long, in as many turns of the event loop as it takes. */
export class Expiry {
  readonly #tables: Tables
  readonly #periodMs: number
  /** Before this time nothing expires. Unit: milliseconds. */
  #dueMs = Number.POSITIVE_INFINITY
  #walk: Job | undefined

  /** @param periodMs How long a series stays without a record. */
  constructor(tables: Tables, periodMs: number) {
    this.#tables = tables
    this.#periodMs = periodMs
  }

  /** Last time of a record that has expired by now. Unit: milliseconds. */
  expiredMs(nowMs: number): number {
    return nowMs - this.#periodMs
  }

  /** Notes that something came. */
  note(nowMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, nowMs + this.#periodMs)
  }

  /** Whether rows may have expired, without a check of all rows. */
  isDue(nowMs: number): boolean {
    return this.#walk !== undefined || nowMs >= this.#dueMs
  }

  /** Removes expired rows within the share of this turn. Returns whether all are removed. */
  advance(nowMs: number): boolean {
    if (!this.isDue(nowMs)) return true
    this.#walk ??= this.#expire(nowMs)
    if (!advance(this.#walk)) return false
    this.#walk = undefined
    return true
  }

  *#expire(nowMs: number): Generator<void> {
    // Rows that are added during the walk note their own expiry.
    this.#dueMs = Number.POSITIVE_INFINITY
    const expiredMs = this.expiredMs(nowMs)
    let oldestMs = Number.POSITIVE_INFINITY
    const unused: MetricTable[] = []
    for (const table of [...this.#tables.all()]) {
      oldestMs = Math.min(oldestMs, yield* table.expire(expiredMs))
      if (table.count === 0 && table.seenMs <= expiredMs) unused.push(table)
      else oldestMs = Math.min(oldestMs, table.seenMs)
    }
    yield* this.#tables.drop(unused)
    this.#dueMs = Math.min(this.#dueMs, Math.max(nowMs + PAUSE_MS, oldestMs + this.#periodMs))
  }
}
