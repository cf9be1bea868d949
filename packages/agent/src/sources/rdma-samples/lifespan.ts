/** What the kernel takes where a driver sets no lifespan. Unit: milliseconds. */
export const LIFESPAN_MS = 10

/**
 * Tells the samples that a driver repeats. Within its lifespan a driver gives the values that it read last, whoever
 * asked for them: a sample without any change, so soon after one that was new, says nothing of the time between.
 */
export class Lifespan {
  /** Unit: milliseconds. */
  ms = LIFESPAN_MS
  #newNs = 0n

  /**
   * Whether a sample repeats the one before.
   *
   * @param isChanged Whether any value is another: then the driver read anew, for whoever else asked.
   */
  isRepeat(monoNs: bigint, isChanged: boolean): boolean {
    if (!isChanged && this.#newNs !== 0n && Number(monoNs - this.#newNs) <= this.ms * 1e6) return true
    this.#newNs = monoNs
    return false
  }

  /** Nothing is known of the samples before. */
  restart(): void {
    this.#newNs = 0n
  }
}
