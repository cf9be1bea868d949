import type { ServerResponse } from 'node:http'
import type { HttpStats } from '../pipeline/http-stats.ts'

/**
 * Limit of the waiting answers when a new answer is added. The new answer does not count, so that a large answer closes
 * no more others than a small answer.
 */
const UNREAD_BYTES_LIMIT = 128 << 20
/** An answer that is not read completely within this time is aborted, even if the client reads slowly. */
const READ_LIMIT_MS = 120_000

/** An answer that was made, and that its client has not read to the end. */
export interface Unread {
  /** Its client took a part of it. */
  taken(): void
  /** It was read, or will not be. May be called twice; called when its response ends. */
  release(): void
}

/** A waiting answer, and the time of the last read by its client. */
interface HeldAnswer extends Unread {
  readonly bytes: number
  takenMs: number
  /** Ends its connection. */
  cut(): void
}

/**
 * The answers that wait for their readers. Above the limit, the answer with the largest product of size and waiting
 * time is aborted: a slow reader loses its own answer and does not block other clients.
 */
export class UnreadAnswers {
  readonly #http: HttpStats
  readonly #waiting = new Set<HeldAnswer>()
  #bytes = 0

  constructor(http: HttpStats) {
    this.#http = http
  }

  /** Counts an answer until it is released, or its response ends. */
  hold(bytes: number, out: ServerResponse): Unread {
    while (this.#bytes > UNREAD_BYTES_LIMIT) this.#costliest()?.cut()
    const release = () => {
      if (!this.#waiting.delete(answer)) return
      this.#bytes -= bytes
      clearTimeout(timer)
      out.off('close', release)
    }
    const cut = () => {
      release()
      this.#http.refuse('answer_stalled')
      // Destroys the connection, because a response behind another response of the connection would remain.
      out.req.socket.destroy()
    }
    const taken = () => {
      answer.takenMs = performance.now()
    }
    const timer = setTimeout(cut, READ_LIMIT_MS).unref()
    const answer: HeldAnswer = { bytes, takenMs: performance.now(), taken, release, cut }
    this.#waiting.add(answer)
    this.#bytes += bytes
    out.once('close', release)
    // Its client left while it was made.
    if (out.destroyed) release()
    return answer
  }

  #costliest(): HeldAnswer | undefined {
    const nowMs = performance.now()
    const costOf = ({ bytes, takenMs }: HeldAnswer) => bytes * (nowMs - takenMs)
    let costliest: HeldAnswer | undefined
    for (const answer of this.#waiting)
      if (costliest === undefined || costOf(answer) > costOf(costliest)) costliest = answer
    return costliest
  }
}
