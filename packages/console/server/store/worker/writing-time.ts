/**
 * How much of the time in which it writes the thread computes. The rest it waits: for the disk, or for the processor.
 */
export class WritingTime {
  #part: number | undefined
  #wallUs = 0
  #processorUs = 0

  /** Writes. */
  of<T>(write: () => T): T {
    const startUs = performance.now() * 1000
    const before = processorUs()
    try {
      return write()
    } finally {
      this.#wallUs += performance.now() * 1000 - startUs
      this.#processorUs += processorUs() - before
    }
  }

  /**
   * Part of the time since this was asked last, or when it last wrote. Range: 0 to 1; undefined if it is not known.
   */
  takePart(): number | undefined {
    if (this.#wallUs > 0) this.#part = Math.min(1, this.#processorUs / this.#wallUs)
    this.#wallUs = 0
    this.#processorUs = 0
    return Number.isNaN(this.#part) ? undefined : this.#part
  }
}

/** What this thread had of the processor; NaN before Node 23.9. Unit: microseconds. */
function processorUs(): number {
  const usage = process.threadCpuUsage?.()
  return usage === undefined ? Number.NaN : usage.user + usage.system
}
