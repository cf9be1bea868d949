/**
 * Promises of functions that should have returned nothing, such as an `async accept`. One that rejects is a failure as
 * if the function had thrown, and whoever waits for what was handed over waits for it.
 */
export class LateFailures {
  readonly #pending = new Set<Promise<void>>()

  /** Whether one has neither resolved nor rejected. */
  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Watches what a function returned; `failed` gets what a promise rejects with, and must not throw. */
  watch(returned: unknown, failed: (error: unknown) => void): void {
    if (!isPromise(returned)) return
    const settled = Promise.resolve(returned)
      .then(() => undefined, failed)
      .then(() => void this.#pending.delete(settled))
    this.#pending.add(settled)
  }

  /** Resolves when all that are pending now have resolved or rejected. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === 'object' && 'then' in value && typeof value.then === 'function'
}
