interface Waiter {
  /** Resolves when all pages up to this page are gone. */
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Callers that wait for acknowledgements: without a limit while there is a connection or progress, else up to a limit.
 */
export class Waiters {
  readonly #limitMs: number
  readonly #onWaiting: (isWaiting: boolean) => void
  readonly #makeError: () => unknown
  readonly #waiting = new Set<Waiter>()
  /** Keeps the process alive while somebody waits: nothing else of this sink does. */
  #timer: NodeJS.Timeout | undefined
  /** The oldest page that is not done with, and since when. */
  #first = 0
  #progressMs = 0
  #isConnected = false

  /** `onWaiting` is called with whether a caller waits; `makeError` makes the error of a wait that took too long. */
  constructor(limitMs: number, onWaiting: (isWaiting: boolean) => void, makeError: () => unknown) {
    this.#limitMs = limitMs
    this.#onWaiting = onWaiting
    this.#makeError = makeError
  }

  /** Resolves once every page up to `sequence` is done with; `first` is the oldest that is not. */
  wait(sequence: number, first: number): Promise<void> {
    if (first > sequence) return Promise.resolve()
    if (this.#waiting.size === 0) {
      this.#first = first
      this.#progressMs = performance.now()
      this.#watchFor(this.#limitMs)
      this.#onWaiting(true)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add({ sequence, resolve, reject })
    })
  }

  /** Pages up to, not including, `first` are done with. */
  progress(first: number): void {
    if (this.#waiting.size === 0 || first === this.#first) return
    this.#first = first
    this.#progressMs = performance.now()
    for (const waiter of this.#waiting) {
      if (waiter.sequence >= first) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
    this.#endIfNobody()
  }

  connected(): void {
    this.#isConnected = true
  }

  disconnected(): void {
    this.#isConnected = false
    if (this.#waiting.size > 0 && this.#leftMs() <= 0) this.giveUp()
  }

  /** Rejects all waiting callers. */
  giveUp(): void {
    const error = this.#makeError()
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
    this.#endIfNobody()
  }

  #leftMs(): number {
    return this.#progressMs + this.#limitMs - performance.now()
  }

  #watchFor(durationMs: number): void {
    this.#timer = setTimeout(() => {
      const leftMs = this.#leftMs()
      if (leftMs > 0) this.#watchFor(leftMs)
      else if (this.#isConnected) this.#watchFor(this.#limitMs)
      else this.giveUp()
    }, Math.ceil(durationMs))
  }

  #endIfNobody(): void {
    if (this.#waiting.size > 0) return
    clearTimeout(this.#timer)
    this.#onWaiting(false)
  }
}
