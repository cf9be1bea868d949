/** A disk that hangs says nothing: that it is silent is seen by who waits for it. */
export class StallWatch {
  /** Stalls so far. */
  count = 0
  readonly #limitMs: number
  /**
   * When the disk last took something, or was first given something to take. Unit: milliseconds since the process
   * started.
   */
  #progressMs = 0
  #since: string | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Since when it has been silent for too long, as an ISO time: while it is, what is told stays the same. */
  get since(): string | undefined {
    return this.#since
  }

  /** The disk took something. */
  progress(): void {
    this.begin()
    this.#since = undefined
  }

  /** The disk is given something, and had nothing to take before. */
  begin(): void {
    this.#progressMs = performance.now()
  }

  /**
   * Looks whether it is silent for too long. What has nothing to take, or can say itself why it takes nothing, is
   * excused.
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
