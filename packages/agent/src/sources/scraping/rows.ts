import { performance } from 'node:perf_hooks'
import { type RecordType, SondeError } from '@sonde/sdk'
import type { SourceContext } from '../source.ts'
import type { Claimant, Claims } from './claims.ts'
import { Row, type WhyUntold } from './row.ts'

const DAY_MS = 86_400_000
/** Of a row whatever its fields: itself, that it has left, and the row of its pod. */
const SERIES_A_ROW = 4
/** A series with longer labels counts once more for each further ones, as it does in the store. */
const LABELS_BYTES = 256
/** What was refused is looked at again so often. Unit: milliseconds. */
const LOOK_AGAIN_MS = 60_000
/** Of a name from outside so much is in a message. Unit: characters. */
const NAME_LENGTH_MAX = 200

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

/** The rows of one exporter, by the GPU or pod that they are of. */
export class Rows implements Claimant {
  readonly address: string
  readonly #context: SourceContext
  readonly #claims: Claims
  readonly #whyUntold: WhyUntold
  readonly #now: () => number
  readonly #subjects = new Map<string, Map<string, Row>>()
  /** Rows that were made within a day: one that comes again brings nothing new. The oldest is first. */
  readonly #made = new Map<string, { readonly count: number; readonly atMs: number }>()
  readonly #seriesCountMax: number
  #room: number
  /** What was not taken since the last look at all of it: because another exporter tells of it, or for want of room. */
  #elsewhere = 0
  #tooMany = 0
  #first = ''
  #lookedMs = Number.NEGATIVE_INFINITY
  #version = -1

  constructor(address: string, context: SourceContext, claims: Claims, options: RowsOptions) {
    const { whyUntold, seriesCountMax, now = () => performance.now() } = options
    this.address = address
    this.#context = context
    this.#claims = claims
    this.#whyUntold = whyUntold
    this.#now = now
    this.#seriesCountMax = seriesCountMax
    this.#room = seriesCountMax
  }

  /** A row of a GPU or pod; undefined where another exporter tells of that, or there is no room. */
  of(subject: string, type: RecordType, labels: Readonly<Record<string, string | number>>): Row | undefined {
    let rows = this.#subjects.get(subject)
    const key = `${type.name} ${JSON.stringify(Object.values(labels))}`
    const known = rows?.get(key)
    if (known !== undefined) return known
    const count = this.#made.has(key) ? 0 : seriesOf(type, key)
    if (count > this.#room) {
      this.#tooMany++
      return undefined
    }
    const holder = this.#claims.take(subject, this)
    if (holder !== this) {
      this.#noteElsewhere(subject, holder.address)
      return undefined
    }
    if (count > 0) {
      this.#made.set(key, { count, atMs: this.#now() })
      this.#room -= count
    }
    if (rows === undefined) {
      rows = new Map()
      this.#subjects.set(subject, rows)
    }
    const row = new Row(this.#context, this.address, type, labels, this.#whyUntold)
    rows.set(key, row)
    return row
  }

  /** The rows that a scrape has, with what they are of. */
  inScrape(scrape: number): (readonly [subject: string, row: Row])[] {
    return [...this.#subjects].flatMap(([subject, rows]) =>
      [...rows.values()].filter((row) => row.scrape === scrape).map((row) => [subject, row] as const),
    )
  }

  /** Whether what was refused may be taken by now: another exporter may have left it, or there may be room. */
  get mayTakeMore(): boolean {
    const isLeft = this.#elsewhere > 0 && this.#version !== this.#claims.version
    return isLeft || (this.#tooMany > 0 && this.#now() - this.#lookedMs >= LOOK_AGAIN_MS)
  }

  /** All that a body tells of is offered anew from now on. */
  look(): void {
    this.#elsewhere = 0
    this.#tooMany = 0
    this.#first = ''
    this.#version = this.#claims.version
    const nowMs = this.#now()
    this.#lookedMs = nowMs
    for (const [key, { count, atMs }] of this.#made) {
      if (nowMs - atMs < DAY_MS) break
      this.#made.delete(key)
      this.#room += count
    }
  }

  /** Reports the rows that a scrape has; the others leave. Says whether any did. */
  finish(scrape: number, time: bigint, reason: string): boolean {
    let isAny = false
    for (const [subject, rows] of this.#subjects) {
      for (const [key, row] of rows) {
        if (row.scrape === scrape) row.report(time)
        else {
          rows.delete(key)
          // One that was never in a scrape, as others of its GPU found no room, was never reported.
          if (row.scrape === 0) continue
          row.leave(reason)
          isAny = true
        }
      }
      if (rows.size === 0) this.#forget(subject)
      // It answers: what it had left to others while it did not is its own again, unless another took it.
      else this.#claims.take(subject, this)
    }
    this.#tell()
    return isAny
  }

  /** The exporter does not answer: nothing of them is known, and others may tell of what they are of. */
  fail(reason: string): void {
    for (const [subject, rows] of this.#subjects) {
      for (const row of rows.values()) row.fail(reason)
      this.#claims.silence(subject)
    }
  }

  /** The exporter is asked no more. */
  leave(reason: string): void {
    for (const [subject, rows] of this.#subjects) {
      for (const row of rows.values()) row.leave(reason)
      this.#forget(subject)
    }
  }

  yield(subject: string, { address }: Claimant): void {
    for (const row of this.#subjects.get(subject)?.values() ?? []) row.leave(`${address} tells of it now`)
    this.#subjects.delete(subject)
    // It is offered anew when the other one leaves it.
    this.#noteElsewhere(subject, address)
  }

  #noteElsewhere(subject: string, address: string): void {
    this.#elsewhere++
    this.#first ||= `${subject.slice(0, NAME_LENGTH_MAX)}, of which ${address} tells`
  }

  #forget(subject: string): void {
    this.#subjects.delete(subject)
    this.#claims.release(subject)
  }

  #tell(): void {
    const fault = (why: string) =>
      this.#context.failed(this.address, new SondeError('SRC_SCRAPE', `${this.address} ${why}`))
    if (this.#elsewhere > 0)
      fault(`tells of what another exporter of this source tells of, which is not taken: ${this.#first}`)
    if (this.#tooMany > 0)
      fault(`tells of more than max_series: ${this.#seriesCountMax} allows within a day; the rest is left out`)
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
