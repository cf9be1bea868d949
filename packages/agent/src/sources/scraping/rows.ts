import { performance } from 'node:perf_hooks'
import { type RecordType, SondeError } from '@sonde/sdk'
import type { DisputeStatus } from '@sonde/sdk/api'
import type { SourceContext } from '../source.ts'
import type { Claimant, Claims } from './claims.ts'
import { type Dispute, Disputes, holderWords } from './disputes.ts'
import { HeldKeys } from './held-keys.ts'
import { Row, type WhyUntold } from './row.ts'
import type { Subject } from './subjects.ts'

const DAY_MS = 86_400_000
/** Of a row whatever its fields: itself, that it has left, and the row of its pod. */
const SERIES_A_ROW = 4
/** A series with longer labels counts once more for each further ones, as it does in the store. */
const LABELS_BYTES = 256
/** What was refused is looked at again so often. Unit: milliseconds. */
const LOOK_AGAIN_MS = 60_000
/** Scrapes in a row that may fail before another exporter stands in for this one. */
const MISSES_MAX = 3

/** What an exporter leaves untold, and what it may tell. */
export interface RowsOptions {
  readonly whyUntold: WhyUntold
  /**
   * Series that the rows may bring into views and history within a day. A row brings a few of its own, and one for each
   * field that may be absent. Policy: further rows are not reported, and that is told.
   */
  readonly seriesCountMax: number
  /** Clock that only rises. Unit: milliseconds. */
  readonly now?: () => number
}

interface Held {
  readonly subject: Subject
  readonly rows: Map<string, Row>
}

/** Why a sample was not taken: there is no room for its row. */
export const LEFT_OUT = 'left_out'

/** The rows of one exporter, by the GPU or pod that they are of. */
export class Rows implements Claimant {
  readonly address: string
  readonly #context: SourceContext
  readonly #claims: Claims
  readonly #whyUntold: WhyUntold
  readonly #now: () => number
  /** By own key. */
  readonly #subjects = new Map<string, Held>()
  readonly #keys: HeldKeys
  readonly #disputes = new Disputes()
  /** Rows that were made within a day: one that comes again brings nothing new. The oldest is first. */
  readonly #made = new Map<string, { readonly count: number; readonly atMs: number }>()
  readonly #seriesCountMax: number
  #room: number
  /** What this scrape told that found no room. */
  #leftOut = 0
  #misses = 0
  /** Whether another took something since the last look. */
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

  /** Disputes about what the last whole answer told of. */
  get disputes(): { readonly listed: readonly DisputeStatus[]; readonly count: number } {
    return this.#disputes
  }

  /** Claims a GPU or pod, of which rows may be made then; gives the dispute where another has one of its keys. */
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

  /** A row of a GPU or pod that was claimed; undefined if there is no room, or another has it by now. */
  of(subject: Subject, type: RecordType, labels: Readonly<Record<string, string | number>>): Row | undefined {
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
    const row = new Row(this.#context, this.address, type, labels, this.#whyUntold)
    rows.set(key, row)
    return row
  }

  /** The rows that a scrape has, with what they are of. */
  *inScrape(scrape: number): Generator<readonly [subject: Subject, row: Row]> {
    for (const { subject, rows } of this.#subjects.values())
      for (const row of rows.values()) if (row.scrape === scrape) yield [subject, row]
  }

  /** A sample was not taken, for want of room or because of a dispute. */
  refuse(why: Dispute | typeof LEFT_OUT, scrape: number): void {
    if (why === LEFT_OUT) this.#leftOut++
    else this.#disputes.refuse(why, scrape)
  }

  /** Whether what was refused may be taken by now: another exporter may have left it, or there may be room. */
  get mayTakeMore(): boolean {
    const isOpen = this.#hasYielded || (this.#disputes.count > 0 && this.#version !== this.#claims.version)
    return isOpen || (this.#leftOut > 0 && this.#now() - this.#lookedMs >= LOOK_AGAIN_MS)
  }

  /** All that a body tells of is offered anew from now on. */
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

  /** Reports the rows that a scrape has; the others leave. Says whether any did. A step a row. */
  *finish(scrape: number, time: bigint, reason: string): Generator<undefined, boolean> {
    let isAny = false
    this.#misses = 0
    for (const [own, { rows }] of this.#subjects) {
      for (const [key, row] of rows) {
        // Between two steps another may have taken it.
        if (this.#subjects.get(own)?.rows !== rows) break
        if (row.scrape === scrape) row.report(time)
        else {
          rows.delete(key)
          // One that was never in a scrape, as others of its GPU found no room, was never reported.
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

  /** The exporter does not answer: nothing of its rows is known. After some misses others stand in for it. */
  fail(reason: string): void {
    for (const { rows } of this.#subjects.values()) for (const row of rows.values()) row.fail(reason)
    this.#disputes.clear()
    this.#misses++
    if (this.#misses === MISSES_MAX + 1) this.#claims.lapse()
  }

  /** The exporter is asked no more. */
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

  /** Gives way to sources of the hardware, which hold more by now. */
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

/** How many series a row may bring. */
function seriesOf(type: RecordType, key: string): number {
  let fields = fieldCounts.get(type)
  if (fields === undefined) {
    fields = type.layout.slots.filter(({ field }) => field.optional).length
    fieldCounts.set(type, fields)
  }
  return (SERIES_A_ROW + fields) * (1 + Math.floor(Buffer.byteLength(key) / LABELS_BYTES))
}
