import type { Letter, LetterBox } from './letter-box.ts'

/**
 * A request that the destination will never accept: one batch, or several if delivery had stopped halving requests.
 * Bytes of batches do not change after the call.
 */
export interface DeadLetter<P> extends Letter {
  /** The encoded request; absent if the encoder threw, or the far end accepted a part of it. */
  readonly payload?: P
}

/** Keeps a dead letter, for example in a file. */
export type OnReject<P> = (letter: DeadLetter<P>) => void | Promise<void>

/**
 * Passes dead letters to `onReject` without waiting for it. If it has not finished with too many, further letters are
 * only counted.
 */
export class DeadLetters<P> {
  #overflowed = 0
  readonly #onReject: OnReject<P> | undefined
  readonly #box: LetterBox | undefined
  readonly #countLimit: number
  readonly #onFailure: (error: unknown) => void
  readonly #open = new Set<Promise<void>>()

  constructor(parts: {
    readonly onReject: OnReject<P> | undefined
    readonly box: LetterBox | undefined
    readonly countLimit: number
    readonly onFailure: (error: unknown) => void
  }) {
    this.#onReject = parts.onReject
    this.#box = parts.box
    this.#countLimit = parts.countLimit
    this.#onFailure = parts.onFailure
  }

  /** Letters that were not passed on, and records that the files do not have. */
  get overflowed(): number {
    return this.#overflowed + (this.#box?.overflowed ?? 0)
  }

  /** A sentence while the disk of the files hangs; else empty. */
  get hanging(): string {
    return this.#box?.hanging ?? ''
  }

  put(letter: DeadLetter<P>): void {
    this.#box?.put(letter)
    const keep = this.#onReject
    if (keep === undefined) return
    if (this.#open.size >= this.#countLimit) {
      this.#overflowed++
      return
    }
    const done = Promise.resolve(letter)
      .then(keep)
      .catch(this.#onFailure)
      .finally(() => this.#open.delete(done))
    this.#open.add(done)
  }

  /** Resolves when `onReject` has finished with all letters so far, and they are written. */
  async close(): Promise<void> {
    await Promise.all(this.#open)
    await this.#box?.close()
  }
}
