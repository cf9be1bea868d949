/** After a failure, opening is not tried for this time. Unit: milliseconds. */
const OPEN_AGAIN_MS = 5000

/** Opens something once, when it is needed first; after a failure again, but not at once. */
export class OpenedOnce {
  readonly #open: () => Promise<void>
  readonly #nowMs: () => number
  readonly #onFault: (error: unknown) => void
  #opening: Promise<void> | undefined
  #isOpen = false
  #failed: { readonly untilMs: number; readonly error: unknown } | undefined

  /** `nowMs` is a clock that only rises. */
  constructor(open: () => Promise<void>, nowMs: () => number, onFault: (error: unknown) => void) {
    this.#open = open
    this.#nowMs = nowMs
    this.#onFault = onFault
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The error for which it is not tried now; undefined if it is open, or will be tried. */
  get refusal(): { readonly error: unknown } | undefined {
    return this.#failed !== undefined && this.#nowMs() < this.#failed.untilMs ? this.#failed : undefined
  }

  /** Resolves when it is open. @throws the error for which it cannot be opened. */
  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve()
    this.#opening ??= this.#tryNow().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Resolves when no attempt is in progress. */
  async settled(): Promise<void> {
    await this.#opening?.catch(() => undefined)
  }

  async #tryNow(): Promise<void> {
    if (this.refusal !== undefined) throw this.refusal.error
    try {
      await this.#open()
      this.#isOpen = true
      this.#failed = undefined
    } catch (error) {
      this.#failed = { untilMs: this.#nowMs() + OPEN_AGAIN_MS, error }
      this.#onFault(error)
      throw error
    }
  }
}
