import type { ServerResponse } from 'node:http'
import type { HttpStats } from '../pipeline/http-stats.ts'

/**
 * What the answers that wait for their readers may hold when another one comes: that one is held besides, so that no
 * large answer pushes out more than a small one does.
 */
const UNREAD_BYTES_LIMIT = 128 << 20
/** An answer that is not read to its end by then is cut, however often a part of it was taken. */
const READ_LIMIT_MS = 120_000

/** An answer that was made, and that its client has not read to the end. */
export interface Unread {
  /** Its client took a part of it. */
  taken(): void
  /** It was read, or will not be. May be called twice; called when its response ends. */
  release(): void
}

/** An answer that is held, and since when its client took nothing. */
interface Held extends Unread {
  readonly bytes: number
  takenMs: number
  /** Ends its connection. */
  cut(): void
}

/**
 * The answers that wait for their readers. Where they hold too much, the one is cut that held most for longest without
 * being read: who reads slowly loses its own answer, and keeps nobody else from asking.
 */
export class UnreadAnswers {
  readonly #http: HttpStats
  readonly #held = new Set<Held>()
  #bytes = 0

  constructor(http: HttpStats) {
    this.#http = http
  }

  /** Counts an answer until it is released, or its response ends. */
  hold(bytes: number, out: ServerResponse): Unread {
    while (this.#bytes > UNREAD_BYTES_LIMIT) this.#costliest()?.cut()
    const release = () => {
      if (!this.#held.delete(held)) return
      this.#bytes -= bytes
      clearTimeout(timer)
      out.off('close', release)
    }
    const cut = () => {
      release()
      this.#http.refuse('answer_stalled')
      // Not the response: one that waits behind another of its connection would be left.
      out.req.socket.destroy()
    }
    const taken = () => {
      held.takenMs = performance.now()
    }
    const timer = setTimeout(cut, READ_LIMIT_MS).unref()
    const held: Held = { bytes, takenMs: performance.now(), taken, release, cut }
    this.#held.add(held)
    this.#bytes += bytes
    out.once('close', release)
    // Its client left while it was made.
    if (out.destroyed) release()
    return held
  }

  #costliest(): Held | undefined {
    const nowMs = performance.now()
    const costOf = ({ bytes, takenMs }: Held) => bytes * (nowMs - takenMs)
    let costliest: Held | undefined
    for (const held of this.#held) if (costliest === undefined || costOf(held) > costOf(costliest)) costliest = held
    return costliest
  }
}
