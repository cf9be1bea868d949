/** Detects a disk that hangs. Such a disk reports nothing, so the waiting side must measure the silence. */
export class StallWatch {
  /** Number of stalls so far. */
  count = 0
  readonly #limitMs: number
  /**
   * Time when the disk last finished a write, or was first given one. Unit: milliseconds since the process started.
   */
  #progressMs = 0
  #since: string | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Start of the current stall as an ISO time, which does not change while it lasts; undefined if there is none. */
  get since(): string | undefined {
    return this.#since
  }

  /** The disk finished a write. */
  progress(): void {
    this.begin()
    this.#since = undefined
  }

  /** The disk is given a write, and had none before. */
  begin(): void {
    this.#progressMs = performance.now()
  }

  /**
   * Checks for a stall. `isExcused`: the disk has no open write, or the worker itself reports why it does not write.
   */
  look(isExcused: boolean): void {
    const silentMs = performance.now() - this.#progressMs
    if (isExcused || silentMs < this.#limitMs) {
      this.#since = undefined
      return
    }
    if (this.#since !== undefined) return
    this.#since = `${new Date(Date.now() - silentMs).toISOString().slice(0, 19)}Z`
    this.count++
  }
}
