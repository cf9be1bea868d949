import type { HttpRequest } from '../../delivery/connection/http-client.ts'
import type { Send, SendResult } from '../../delivery/sender.ts'
import { messageOf } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import { Writer1 } from '../../wire/remote-write/version1.ts'
import type { RequestRows } from './request-rows.ts'
import { type Body, type ExternalLabels, type RequestLimits, RowWriter } from './row-writer.ts'
import type { SeriesBook } from './series-book.ts'

/** Parts of {@link Pushes}. */
export interface PushParts {
  readonly send: Send<HttpRequest>
  readonly book: SeriesBook
  readonly external: ExternalLabels
  readonly limits: RequestLimits
  readonly nowMs: () => number
}

/** The series of some batches, on their way in one body or more. */
export interface Push {
  readonly rows: RequestRows
  readonly writer: RowWriter
  /** The body that is sent next, or again. */
  next: Promise<Body | undefined> | undefined
}

/** Headers of Remote-Write 1.0. */
const HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
  'user-agent': 'sonde',
}

/** Encodes batches as bodies of remote write, and sends them one after the other. */
export class Pushes {
  readonly #parts: PushParts
  readonly #free: Writer1[] = []

  constructor(parts: PushParts) {
    this.#parts = parts
  }

  /** Undefined if the batches have no metric. */
  encode(batches: readonly Batch[]): Push | undefined {
    const { book, nowMs } = this.#parts
    const rows = book.collect(batches, nowMs())
    return rows.rows.length === 0 && rows.refused.length === 0 ? undefined : this.#pushOf(rows)
  }

  /** Ends all series at the far end, in one attempt. */
  async end(signal: AbortSignal): Promise<void> {
    const { book, nowMs } = this.#parts
    await this.send(this.#pushOf(book.endAll(nowMs())), signal)
  }

  /** Sends the bodies that have not arrived. An attempt that was given up must not touch the push any more. */
  async send(push: Push, signal: AbortSignal): Promise<SendResult> {
    const { send, book } = this.#parts
    const { rows } = push
    for (;;) {
      push.next ??= push.writer.next()
      let body: Body | undefined
      try {
        body = await push.next
      } catch (error) {
        // The same records would fail again.
        return { outcome: 'reject', reason: messageOf(error) }
      }
      if (body === undefined) break
      const result = await send(body.request, signal)
      if (signal.aborted) return { outcome: 'retry', reason: 'the attempt was given up' }
      if (result.outcome !== 'ok') {
        if (result.outcome === 'reject') this.#end(push, () => rows.undo())
        return result
      }
      push.next = undefined
    }
    this.#end(push, () => book.settle(rows))
    return rows.refused.length === 0 ? { outcome: 'ok' } : { outcome: 'partial', refused: rows.refused }
  }

  #pushOf(rows: RequestRows): Push {
    const { external, limits } = this.#parts
    const writer = this.#free.pop() ?? new Writer1()
    return { rows, writer: new RowWriter(rows, writer, { external, limits, headers: HEADERS }), next: undefined }
  }

  #end({ writer }: Push, then: () => void): void {
    this.#free.push(writer.release())
    then()
  }
}
