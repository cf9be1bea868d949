import type { HttpRequest } from '../../delivery/connection/http-client.ts'
import type { Send, SendResult } from '../../delivery/sender.ts'
import { messageOf } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import { InternedTexts } from '../../wire/remote-write/interned.ts'
import type { SeriesWriter } from '../../wire/remote-write/series.ts'
import { Writer1 } from '../../wire/remote-write/version1.ts'
import { Writer2 } from '../../wire/remote-write/version2.ts'
import type { RequestRows } from './request-rows.ts'
import { type Body, EncodedBudget, type ExternalLabels, type RequestLimits, RowWriter } from './row-writer.ts'
import type { SentSeries } from './sent-series.ts'
import { HEADERS, type Version, type Versions } from './versions.ts'

/** Parts of {@link Pushes}. */
export interface PushParts {
  readonly send: Send<HttpRequest>
  readonly book: SentSeries
  readonly versions: Versions
  readonly external: ExternalLabels
  readonly limits: RequestLimits
  readonly isNative: boolean
  /** Whether series that have ended get a marker. Default: true. */
  readonly marksEnd?: boolean
  readonly nowMs: () => number
  /** The texts of 2.0. Default: an empty table. */
  readonly texts?: InternedTexts
  /** Memory of encoded labels. Default: 128 MiB. */
  readonly budget?: EncodedBudget
}

/** The series of some batches, on their way in one body or more. */
export interface Push {
  readonly batches: readonly Batch[]
  rows: RequestRows
  version: Version
  /** Undefined if all bodies have arrived. */
  writer: RowWriter | undefined
  /** The body that is sent next, or again. */
  next: Promise<Body | undefined> | undefined
}

const GIVEN_UP: SendResult = { outcome: 'retry', reason: 'the attempt was given up' }

/** Encodes batches as bodies of remote write, and sends them one after the other. */
export class Pushes {
  readonly #parts: PushParts
  readonly #texts: InternedTexts
  readonly #free: Record<Version, SeriesWriter[]> = { '1.0': [], '2.0': [] }
  readonly #budget: EncodedBudget
  /** Attempts under way. */
  #sending = 0

  constructor(parts: PushParts) {
    this.#parts = parts
    this.#texts = parts.texts ?? new InternedTexts()
    this.#budget = parts.budget ?? new EncodedBudget()
  }

  /** Undefined if the batches have no metric. */
  encode(batches: readonly Batch[]): Push | undefined {
    const { book, versions, nowMs } = this.#parts
    if (this.#texts.isFull && this.#sending === 0) this.#texts.clear()
    if (this.#budget.isFull) {
      book.forgetEncoded()
      this.#budget.bytes = 0
    }
    const rows = book.collect(batches, nowMs())
    const isEmpty = rows.rows.length === 0 && rows.refused.length === 0
    return isEmpty && !book.hasEnding ? undefined : this.#pushOf(batches, rows, versions.current)
  }

  /** Ends all series at the far end, in one attempt. */
  async end(signal: AbortSignal): Promise<void> {
    const { book, versions } = this.#parts
    await this.#sendBodies(this.#pushOf([], book.endAll(), versions.current), signal)
  }

  /** Sends the bodies that have not arrived, and then the markers of series that have ended. */
  async send(push: Push, signal: AbortSignal): Promise<SendResult> {
    this.#sending++
    try {
      let result = await this.#sendBodies(push, signal)
      if (result === 'other_version') result = await this.#sendAs1(push, signal)
      if (result.outcome !== 'ok') {
        if (result.outcome === 'reject') push.rows.undo()
        return result
      }
      // A marker must not overtake samples of its series.
      if (this.#sending === 1) await this.#sendEnded(push.rows.newestMs, signal)
      const { refused } = push.rows
      return refused.length === 0 ? result : { outcome: 'partial', refused }
    } finally {
      this.#sending--
    }
  }

  /** Sends the same records as 1.0. Only if the receiver takes them, it gets 1.0 from now on. */
  async #sendAs1(push: Push, signal: AbortSignal): Promise<SendResult> {
    const { book, versions, nowMs } = this.#parts
    push.rows.undo()
    Object.assign(push, this.#pushOf(push.batches, book.collect(push.batches, nowMs()), '1.0'))
    const result = await this.#sendBodies(push, signal)
    if (result === 'other_version') return GIVEN_UP
    if (result.outcome === 'ok') versions.fallBack()
    return result
  }

  /** Markers that a receiver refuses are left out: a series then ends there when its time is over. */
  async #sendEnded(newestMs: number, signal: AbortSignal): Promise<void> {
    const { book, versions, marksEnd = true } = this.#parts
    const rows = book.takeEnded(newestMs)
    if (rows === undefined) return
    if (!marksEnd) {
      book.ended(rows)
      return
    }
    const push = this.#pushOf([], rows, versions.current)
    const result = await this.#sendBodies(push, signal).catch(() => GIVEN_UP)
    if (result === 'other_version' || result.outcome === 'retry') book.endLater(rows)
    else book.ended(rows)
  }

  /** An attempt that was given up must not touch the push any more. */
  async #sendBodies(push: Push, signal: AbortSignal): Promise<SendResult | 'other_version'> {
    const { send, versions } = this.#parts
    while (push.writer !== undefined) {
      push.next ??= push.writer.next()
      let body: Body | undefined
      try {
        body = await push.next
      } catch (error) {
        // The same records would fail again.
        return { outcome: 'reject', reason: messageOf(error) }
      }
      if (signal.aborted) return GIVEN_UP
      if (body === undefined) {
        this.#free[push.version].push(push.writer.release())
        push.writer = undefined
        break
      }
      const sent = await send(body.request, signal)
      if (signal.aborted) return GIVEN_UP
      const result = push.version === '2.0' ? versions.resultOf2(body.request, sent, body.samples) : sent
      if (result === 'other_version' || result.outcome !== 'ok') return result
      push.next = undefined
    }
    return { outcome: 'ok' }
  }

  #pushOf(batches: readonly Batch[], rows: RequestRows, version: Version): Push {
    const { external, limits, isNative } = this.#parts
    const writer = this.#free[version].pop() ?? (version === '1.0' ? new Writer1() : new Writer2(this.#texts))
    const hasStart = version === '2.0'
    const options = {
      external,
      limits,
      budget: this.#budget,
      headers: HEADERS[version],
      hasStart,
      isNative: hasStart && isNative,
    }
    return { batches, rows, version, writer: new RowWriter(rows, writer, options), next: undefined }
  }
}
