/** Clocks of the host. Unit: nanoseconds. */
export interface HostClocks {
  /** Since the Unix epoch. */
  readonly wallNs: () => bigint
  readonly monoNs: () => bigint
}

/** Readings before the first sample. One reading may be wrong if the thread is interrupted between the two clocks. */
const READINGS = 5
/** A larger forward change means that the wall clock was set. Unit: nanoseconds. */
const STEP_NS = 1_000_000n

/**
 * The real-time clock of simulated NICs: the wall clock, except that it never goes back. If the wall clock is set back,
 * it follows the monotonic clock.
 */
export class NodeClock {
  /** Difference between this clock and the monotonic clock. Unit: nanoseconds. */
  offsetNs: bigint
  readonly #clocks: HostClocks

  constructor(clocks: HostClocks) {
    this.#clocks = clocks
    this.offsetNs = this.#read()
    for (let reading = 1; reading < READINGS; reading++) this.look()
  }

  get monoNs(): bigint {
    return this.#clocks.monoNs()
  }

  /** Follows the wall clock. Returns by how much it was set forward, 0 if it was not. Unit: nanoseconds. */
  look(): bigint {
    const offsetNs = this.#read()
    const aheadNs = offsetNs - this.offsetNs
    if (aheadNs > 0n) this.offsetNs = offsetNs
    return aheadNs > STEP_NS ? aheadNs : 0n
  }

  /** The wall clock is read first, so a pause between the two readings never makes the offset too large. */
  #read(): bigint {
    const wallNs = this.#clocks.wallNs()
    return wallNs - this.#clocks.monoNs()
  }
}
