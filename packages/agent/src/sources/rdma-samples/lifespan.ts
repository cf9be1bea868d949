/** The kernel's lifespan for drivers that set none. Unit: milliseconds. */
export const LIFESPAN_MS = 10

/**
 * Detects samples that a driver repeats. Within its lifespan a driver returns its last values to all readers. A sample
 * without a change soon after a new sample therefore contains no new information.
 */
export class Lifespan {
  /** Unit: milliseconds. */
  ms = LIFESPAN_MS
  #newNs = 0n

  /**
   * Whether a sample repeats the one before.
   *
   * @param isChanged Whether any value changed: then the driver has read the values again, perhaps for another reader.
   */
  isRepeat(monoNs: bigint, isChanged: boolean): boolean {
    if (!isChanged && this.#newNs !== 0n && Number(monoNs - this.#newNs) <= this.ms * 1e6) return true
    this.#newNs = monoNs
    return false
  }

  /** Forgets the earlier samples. */
  restart(): void {
    this.#newNs = 0n
  }
}
