/**
 * Promises of functions that should return nothing, such as an `async accept`. A rejected promise counts as an error of
 * the function, and a flush waits for pending promises.
 */
export class LateFailures {
  readonly #pending = new Set<Promise<void>>()

  /** Whether a promise is pending. */
  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Watches the result of a function; calls `failed` with the error of a rejected promise. `failed` must not throw. */
  watch(returned: unknown, failed: (error: unknown) => void): void {
    if (!isPromise(returned)) return
    const settled = Promise.resolve(returned)
      .then(() => undefined, failed)
      .then(() => void this.#pending.delete(settled))
    this.#pending.add(settled)
  }

  /** Resolves when all promises that are pending now are settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === 'object' && 'then' in value && typeof value.then === 'function'
}
