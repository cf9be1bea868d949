import { setTimeout as pause } from 'node:timers/promises'

/** A stretch in which a client may send its share. Unit: milliseconds. */
const WINDOW_MS = 50

/** Slows one client down to so many bytes a second: what it sends beyond waits in its socket. */
export class Pace {
  readonly #windowBytes: number
  #bytes = 0
  #endMs = 0

  constructor(bytesPerS: number) {
    this.#windowBytes = (bytesPerS * WINDOW_MS) / 1000
  }

  /** So much came. Resolves when more may come; undefined where that is now. */
  take(bytes: number): Promise<void> | undefined {
    const nowMs = performance.now()
    if (nowMs >= this.#endMs) {
      this.#bytes = 0
      this.#endMs = nowMs + WINDOW_MS
    }
    this.#bytes += bytes
    if (this.#bytes <= this.#windowBytes) return undefined
    // A page that is larger than the share takes several of them.
    const waitMs = this.#endMs - nowMs + WINDOW_MS * Math.floor(this.#bytes / this.#windowBytes - 1)
    return pause(Math.min(waitMs, 10_000))
  }
}
