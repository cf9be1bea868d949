/**
 * The share of computing in the thread's writing time. The rest of the time it waits for the disk or the processor.
 */
export class WritingTime {
  #part: number | undefined
  #wallUs = 0
  #processorUs = 0

  /** Runs a write, and adds its time. */
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
   * Share since the last call; if nothing was written since, the share before. Range: 0 to 1; undefined if unknown.
   */
  takePart(): number | undefined {
    if (this.#wallUs > 0) this.#part = Math.min(1, this.#processorUs / this.#wallUs)
    this.#wallUs = 0
    this.#processorUs = 0
    return Number.isNaN(this.#part) ? undefined : this.#part
  }
}

/** Processor time of this thread; NaN before Node 23.9. Unit: microseconds. */
function processorUs(): number {
  const usage = process.threadCpuUsage?.()
  return usage === undefined ? Number.NaN : usage.user + usage.system
}
