/** Clocks of the host. Unit: nanoseconds. */
export interface HostClocks {
  /** Since the Unix epoch. */
  readonly wallNs: () => bigint
  readonly monoNs: () => bigint
}

/** Readings before the first sample: a thread that is put aside between two clocks reads them too far apart. */
const READINGS = 5
/** A wall clock that is further ahead than before was set. Unit: nanoseconds. */
const STEP_NS = 1_000_000n

/**
 * The real-time clock of simulated NICs: the wall clock, but that it never goes back. Where the wall clock is set back,
 * it goes on by the monotonic clock.
 */
export class NodeClock {
  /** This clock less the monotonic clock. Unit: nanoseconds. */
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

  /** Follows the wall clock; by how much that was set ahead, 0 if it was not. Unit: nanoseconds. */
  look(): bigint {
    const offsetNs = this.#read()
    const aheadNs = offsetNs - this.offsetNs
    if (aheadNs > 0n) this.offsetNs = offsetNs
    return aheadNs > STEP_NS ? aheadNs : 0n
  }

  /** Of two readings with a pause between them the wall clock is the older: an offset is never too large. */
  #read(): bigint {
    const wallNs = this.#clocks.wallNs()
    return wallNs - this.#clocks.monoNs()
  }
}
