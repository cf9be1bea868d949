import { performance } from 'node:perf_hooks'
import { type RecordType, SondeError } from '@sonde/sdk'
import type { DisputeStatus } from '@sonde/sdk/api'
import type { SourceContext } from '../source.ts'
import type { Claimant, Claims } from './claims.ts'
import { type Dispute, Disputes, holderWords } from './disputes.ts'
import { HeldKeys } from './held-keys.ts'
import { ScrapedRow, type WhyUntold } from './scraped-row.ts'
import type { Subject } from './subjects.ts'

const DAY_MS = 86_400_000
/** Series of each row besides its fields: the row itself, its end, and the row of its pod. */
const SERIES_A_ROW = 4
/** The store counts a series with long labels several times: once per this many bytes of labels. */
const LABELS_BYTES = 256
/** Time after which refused series are tried again. Unit: milliseconds. */
const LOOK_AGAIN_MS = 60_000
/** Failed scrapes in a row after which another exporter may replace this one. */
const MISSES_MAX = 3

/** Limits of one exporter, and the reasons for fields that it does not report. */
export interface RowsOptions {
  readonly whyUntold: WhyUntold
  /**
   * Series that the rows may add to views and history within a day. A row adds a few fixed series, and one for each
   * optional field. Policy: further rows are not reported, and the status says so.
   */
  readonly seriesCountMax: number
  /** Monotonic clock. Unit: milliseconds. */
  readonly now?: () => number
}

interface SubjectRows {
  readonly subject: Subject
  readonly rows: Map<string, ScrapedRow>
}

/** Reason for a refused sample: the series budget is used up. */
export const LEFT_OUT = 'left_out'

/** The rows of one exporter, grouped by GPU or pod. */
export class ScrapedRows implements Claimant {
  readonly address: string
  readonly #context: SourceContext
  readonly #claims: Claims
  readonly #whyUntold: WhyUntold
  readonly #now: () => number
  /** Subjects by their own key. */
  readonly #subjects = new Map<string, SubjectRows>()
  readonly #keys: HeldKeys
  readonly #disputes = new Disputes()
  /** Rows created within the last day, oldest first. A row that returns within the day does not count again. */
  readonly #made = new Map<string, { readonly count: number; readonly atMs: number }>()
  readonly #seriesCountMax: number
  #room: number
  /** Samples of this scrape that exceeded the series budget. */
  #leftOut = 0
  #misses = 0
  /** Whether another claimant took a subject since the last check. */
  #hasYielded = false
  #lookedMs = Number.NEGATIVE_INFINITY
  #version = -1

  constructor(address: string, context: SourceContext, claims: Claims, options: RowsOptions) {
    const { whyUntold, seriesCountMax, now = () => performance.now() } = options
    this.address = address
    this.#context = context
    this.#claims = claims
    this.#keys = new HeldKeys(claims, this)
    this.#whyUntold = whyUntold
    this.#now = now
    this.#seriesCountMax = seriesCountMax
    this.#room = seriesCountMax
  }

  get isSilent(): boolean {
    return this.#misses > MISSES_MAX
  }

  /** Disputes that occurred in the last complete answer. */
  get disputes(): { readonly listed: readonly DisputeStatus[]; readonly count: number } {
    return this.#disputes
  }

  /**
   * Claims a GPU or pod before rows are created for it. Returns the dispute if another claimant holds one of its keys.
   */
  claim(subject: Subject): Dispute | undefined {
    const [own] = subject.keys
    const known = this.#subjects.get(own)
    if (known !== undefined && this.#keys.hasAll(subject)) return undefined
    const conflict = this.#claims.take(subject, this)
    if (conflict !== undefined) return this.#disputes.of(subject, conflict)
    this.#keys.add(subject)
    if (known === undefined) this.#subjects.set(own, { subject, rows: new Map() })
    return undefined
  }

  /** Returns a row of a claimed GPU or pod; undefined if the budget is used up or another claimant holds it now. */
  of(subject: Subject, type: RecordType, labels: Readonly<Record<string, string | number>>): ScrapedRow | undefined {
    const rows = this.#subjects.get(subject.keys[0])?.rows
    const key = `${type.name} ${JSON.stringify(Object.values(labels))}`
    const known = rows?.get(key)
    if (known !== undefined || rows === undefined) return known
    const count = this.#made.has(key) ? 0 : seriesOf(type, key)
    if (count > this.#room) return undefined
    if (count > 0) {
      this.#made.set(key, { count, atMs: this.#now() })
      this.#room -= count
    }
    const row = new ScrapedRow(this.#context, this.address, type, labels, this.#whyUntold)
    rows.set(key, row)
    return row
  }

  /** The rows of a scrape, with their subjects. */
  *inScrape(scrape: number): Generator<readonly [subject: Subject, row: ScrapedRow]> {
    for (const { subject, rows } of this.#subjects.values())
      for (const row of rows.values()) if (row.scrape === scrape) yield [subject, row]
  }

  /** Counts a refused sample: the series budget is used up, or the subject is disputed. */
  refuse(why: Dispute | typeof LEFT_OUT, scrape: number): void {
    if (why === LEFT_OUT) this.#leftOut++
    else this.#disputes.refuse(why, scrape)
  }

  /**
   * Whether refused samples may be accepted now: another exporter may have released them, or the budget has space
   * again.
   */
  get mayTakeMore(): boolean {
    const isOpen = this.#hasYielded || (this.#disputes.count > 0 && this.#version !== this.#claims.version)
    return isOpen || (this.#leftOut > 0 && this.#now() - this.#lookedMs >= LOOK_AGAIN_MS)
  }

  /** From now on every series of a body is offered again. */
  look(): void {
    this.#hasYielded = false
    this.#version = this.#claims.version
    const nowMs = this.#now()
    this.#lookedMs = nowMs
    for (const [key, { count, atMs }] of this.#made) {
      if (nowMs - atMs < DAY_MS) break
      this.#made.delete(key)
      this.#room += count
    }
  }

  /** Reports the rows of a scrape and removes the others. Returns whether any row was removed. One step per row. */
  *finish(scrape: number, time: bigint, reason: string): Generator<undefined, boolean> {
    let isAny = false
    this.#misses = 0
    for (const [own, { rows }] of this.#subjects) {
      for (const [key, row] of rows) {
        // Another claimant may take the subject between two steps.
        if (this.#subjects.get(own)?.rows !== rows) break
        if (row.scrape === scrape) row.report(time)
        else {
          rows.delete(key)
          // Scrape 0: the row was never reported, because other rows of its GPU exceeded the budget.
          if (row.scrape === 0) continue
          row.leave(reason)
          isAny = true
        }
        yield
      }
      if (rows.size === 0) this.#forget(own)
    }
    this.#keys.endAnswer()
    this.#tell(scrape)
    return isAny
  }

  /** The exporter does not answer: its rows become absent. After several failures other exporters may replace it. */
  fail(reason: string): void {
    for (const { rows } of this.#subjects.values()) for (const row of rows.values()) row.fail(reason)
    this.#disputes.clear()
    this.#misses++
    if (this.#misses === MISSES_MAX + 1) this.#claims.lapse()
  }

  /** The exporter is no longer scraped. */
  leave(reason: string): void {
    for (const { rows } of this.#subjects.values()) for (const row of rows.values()) row.leave(reason)
    this.#subjects.clear()
    this.#keys.clear()
    this.#disputes.clear()
  }

  yield(key: string, to: string): void {
    this.#hasYielded = true
    for (const own of [...this.#keys.subjectsWith(key)]) {
      for (const row of this.#subjects.get(own)?.rows.values() ?? []) row.leave(`${to} tells of it now`)
      this.#forget(own)
    }
  }

  /** Gives up subjects that sources of the hardware have taken since the last check. */
  review(): void {
    for (const { subject } of [...this.#subjects.values()]) {
      const conflict = this.#claims.conflictOf(subject.keys)
      if (conflict !== undefined) this.yield(subject.keys[0], conflict.holder)
    }
  }

  #forget(own: string): void {
    this.#subjects.delete(own)
    this.#keys.release(own)
  }

  #tell(scrape: number): void {
    const fault = (why: string) =>
      this.#context.failed(this.address, new SondeError('SRC_SCRAPE', `${this.address} ${why}`))
    const { samples, listed } = this.#disputes.settle(scrape)
    const [first] = listed
    if (first !== undefined) {
      this.#context.dropped('claimed', samples)
      fault(`tells of what another tells of, which is not taken: ${first.subject}; ${holderWords(first)}`)
    }
    if (this.#leftOut === 0) return
    this.#context.dropped('max_series', this.#leftOut)
    fault(`tells of more than max_series: ${this.#seriesCountMax} allows within a day; the rest is left out`)
    this.#leftOut = 0
  }
}

const fieldCounts = new WeakMap<RecordType, number>()

/** How many series a row may add. */
function seriesOf(type: RecordType, key: string): number {
  let fields = fieldCounts.get(type)
  if (fields === undefined) {
    fields = type.layout.slots.filter(({ field }) => field.optional).length
    fieldCounts.set(type, fields)
  }
  return (SERIES_A_ROW + fields) * (1 + Math.floor(Buffer.byteLength(key) / LABELS_BYTES))
}
