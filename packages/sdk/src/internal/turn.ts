/**
 * The share of a turn of the event loop for all work in steps of a thread. Unit: milliseconds. Two shares may follow
 * each other before the loop polls its sockets, and a step is never interrupted; no turn of the main loop may exceed 10
 * ms.
 */
const SHARE_MS = 4

/** The turn that the event loop is in. Long work asks between two steps: `if (turn.isOver()) await turn.next()`. */
class Turn {
  /** When the share of this turn is used up; undefined until somebody asks. */
  #endMs: number | undefined
  /** Work that waits for a share, in the order in which it asked. */
  readonly #waiting: (() => void)[] = []

  /**
   * Whether work in steps has had its share of this turn, which begins with the first question. Costs a reading of the
   * clock.
   */
  isOver(): boolean {
    const nowMs = performance.now()
    if (this.#endMs !== undefined) return nowMs >= this.#endMs
    this.#endMs = nowMs + SHARE_MS
    setImmediate(() => {
      this.#endMs = undefined
    })
    return false
  }

  /**
   * Resolves in a later turn, after all earlier callers. If the share of that turn is used up, it resolves in the next
   * turn with time left. Work that had a share waits behind work that had none, so that no work starves.
   */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    setImmediate(this.#wake)
    return promise
  }

  readonly #wake = (): void => {
    if (this.#endMs !== undefined && performance.now() >= this.#endMs) setImmediate(this.#wake)
    else this.#waiting.shift()?.()
  }
}

/** The turn of the event loop of this thread. */
export const turn = new Turn()
