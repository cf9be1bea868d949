import type { Batch } from '../schema/batch.ts'

/** What the destination will never take: one request. */
export interface DeadLetter<P> {
  /** `rejected`: the far end refused it. `encode_failed`: the encoder threw. */
  readonly cause: 'rejected' | 'encode_failed'
  /** What the far end or the encoder said. */
  readonly reason: string
  /**
   * One batch, or several where halving had been given up. Their bytes stay as they are; keep them as long as you like.
   */
  readonly batches: readonly Batch[]
  /** What was sent; absent if the encoder threw. */
  readonly payload?: P
}

/** Keeps a dead letter somewhere, say in a file. */
export type OnReject<P> = (letter: DeadLetter<P>) => void | Promise<void>

/**
 * Hands dead letters over without ever waiting for their keeper: beyond the limit of letters it has not finished with,
 * they are only counted.
 */
export class DeadLetters<P> {
  /** Letters that were not handed over. */
  overflowed = 0
  readonly #onReject: OnReject<P> | undefined
  readonly #countLimit: number
  readonly #onFailure: (error: unknown) => void
  readonly #open = new Set<Promise<void>>()

  constructor(onReject: OnReject<P> | undefined, countLimit: number, onFailure: (error: unknown) => void) {
    this.#onReject = onReject
    this.#countLimit = countLimit
    this.#onFailure = onFailure
  }

  put(letter: DeadLetter<P>): void {
    const keep = this.#onReject
    if (keep === undefined) return
    if (this.#open.size >= this.#countLimit) {
      this.overflowed++
      return
    }
    const done = Promise.resolve(letter)
      .then(keep)
      .catch(this.#onFailure)
      .finally(() => this.#open.delete(done))
    this.#open.add(done)
  }

  /** Resolves when the keeper has finished with what it was handed so far. */
  async settled(): Promise<void> {
    await Promise.all(this.#open)
  }
}
