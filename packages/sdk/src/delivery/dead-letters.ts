import type { Batch } from '../schema/batch.ts'

/** A request that the destination will never accept. */
export interface DeadLetter<P> {
  /** `rejected`: the peer refused it. `encode_failed`: the encoder threw. */
  readonly cause: 'rejected' | 'encode_failed'
  /** The message of the peer or of the encoder. */
  readonly reason: string
  /**
   * One batch, or several if delivery had stopped halving requests. Their bytes do not change after the call.
   */
  readonly batches: readonly Batch[]
  /** The encoded request; absent if the encoder threw. */
  readonly payload?: P
}

/** Keeps a dead letter, for example in a file. */
export type OnReject<P> = (letter: DeadLetter<P>) => void | Promise<void>

/**
 * Passes dead letters to `onReject` without waiting for it. If it has not finished with too many, further letters are
 * only counted.
 */
export class DeadLetters<P> {
  /** Letters that were not passed on. */
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

  /** Resolves when `onReject` has finished with all letters so far. */
  async settled(): Promise<void> {
    await Promise.all(this.#open)
  }
}
