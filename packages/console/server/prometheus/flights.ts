/** How long an answer is reused. Unit: milliseconds. */
const KEPT_MS = 2000
/** Number of cached answers. Policy: the oldest is dropped. */
const KEPT_COUNT = 64
/** Size of all cached answers together. Policy: the oldest is dropped; a larger answer is not cached. Unit: bytes. */
const KEPT_BYTES = 32 << 20

interface CachedAnswer<T> {
  readonly answer: Promise<T>
  bytes: number
  untilMs: number
}

/**
 * Sends a request once for all callers that ask at the same time, and caches the answer for a short time. All waiting
 * callers get a failure, which is not cached.
 */
export class Flights<T> {
  readonly #kept = new Map<string, CachedAnswer<T>>()
  readonly #bytesOf: (answer: T) => number
  readonly #now: () => number
  #bytes = 0

  /** @param now Returns the milliseconds of a monotonic clock. */
  constructor(bytesOf: (answer: T) => number, now: () => number = () => performance.now()) {
    this.#bytesOf = bytesOf
    this.#now = now
  }

  /** The answer of `ask`, or of an earlier call with the same key. */
  take(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key)
    if (known !== undefined && known.untilMs > this.#now()) return known.answer
    this.#drop(key)
    const kept: CachedAnswer<T> = { answer: ask(), bytes: 0, untilMs: Number.POSITIVE_INFINITY }
    this.#kept.set(key, kept)
    kept.answer.then(
      (answer) => this.#keep(key, kept, this.#bytesOf(answer) + 2 * key.length),
      () => this.#kept.get(key) === kept && this.#drop(key),
    )
    return kept.answer
  }

  #keep(key: string, kept: CachedAnswer<T>, bytes: number): void {
    if (this.#kept.get(key) !== kept) return
    kept.bytes = bytes
    kept.untilMs = this.#now() + KEPT_MS
    this.#bytes += bytes
    for (const [oldest, { untilMs }] of this.#kept) {
      const isOver = this.#bytes > KEPT_BYTES || this.#kept.size > KEPT_COUNT
      if (!isOver && untilMs > this.#now()) continue
      // Open requests are not dropped, because callers wait for them.
      if (untilMs !== Number.POSITIVE_INFINITY) this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }
}
