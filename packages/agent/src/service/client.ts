/** A page that the sinks have and that is not acknowledged yet. */
interface PageInFlight {
  readonly sequence: bigint
  readonly bytes: number
}

/** Records that were dropped, by reason, and the acknowledgement that said so. */
interface Told {
  readonly sequence: bigint
  readonly dropped: Map<string, number>
}

/** Acknowledgements with drops that are kept apart until the client connects again; older ones are put together. */
const TOLD_COUNT = 64

/**
 * A client for as long as its process lives, over all its connections: which of its pages were taken, and which are
 * acknowledged.
 */
export class Client {
  /** Random, of the client's choosing. */
  readonly id: bigint
  /** The last page that was taken or refused. */
  accepted: bigint
  /** The last page that is acknowledged. */
  acked: bigint
  /** Called when more is acknowledged; undefined while nobody is connected. */
  onProgress: (() => void) | undefined
  /** Memory of pages that are not acknowledged. Unit: bytes. */
  inFlightBytes = 0
  #inFlight: PageInFlight[] = []
  /** Of pages that no flush of the sinks is for yet. */
  #refused = new Map<string, number>()
  /** Of pages of the flush that is under way. */
  #flushing = new Map<string, number>()
  /** Of pages that are acknowledged. */
  #dropped = new Map<string, number>()
  /** What it was told with which acknowledgement, and may not have read. */
  #told: Told[] = []
  #settled = Promise.withResolvers<void>()

  /** @param stored The last page that every durable sink has. */
  constructor(id: bigint, stored: bigint) {
    this.id = id
    this.accepted = stored
    this.acked = stored
  }

  /** The sinks have a page. */
  took(sequence: bigint, bytes: number): void {
    this.accepted = sequence
    this.inFlightBytes += bytes
    this.#inFlight.push({ sequence, bytes })
  }

  /** A page was refused: it is acknowledged with the reason. */
  refused(sequence: bigint, reason: string, records: number): void {
    this.accepted = sequence
    add(this.#refused, reason, records)
  }

  /** The sinks are flushed for what was taken so far; gives the last page of that. */
  gather(): bigint {
    for (const [reason, records] of this.#refused) add(this.#flushing, reason, records)
    this.#refused.clear()
    return this.accepted
  }

  /**
   * The sinks are done with the pages up to `sequence`, which `gather` gave, and dropped some of the records, by
   * reason: the client is told. Gives the memory that the pages took. Unit: bytes.
   */
  done(sequence: bigint, lost: Readonly<Record<string, number>>): number {
    let releasedBytes = 0
    let count = 0
    for (const page of this.#inFlight) {
      if (page.sequence > sequence) break
      releasedBytes += page.bytes
      count++
    }
    this.#inFlight.splice(0, count)
    this.inFlightBytes -= releasedBytes
    if (sequence > this.acked) this.acked = sequence
    for (const [reason, records] of this.#flushing) add(this.#dropped, reason, records)
    this.#flushing.clear()
    for (const [reason, records] of Object.entries(lost)) add(this.#dropped, reason, records)
    this.onProgress?.()
    if (this.acked >= this.accepted) this.#settled.resolve()
    return releasedBytes
  }

  /** Resolves when every page that was taken so far is acknowledged. */
  async settled(): Promise<void> {
    if (this.acked >= this.accepted) return
    this.#settled = Promise.withResolvers()
    await this.#settled.promise
  }

  /**
   * Records of acknowledged pages that were not taken, by reason, to be told to the client with the acknowledgement of
   * all of them: once, unless it connects again and has not {@link heard} that.
   */
  takeDropped(): ReadonlyMap<string, number> {
    const dropped = this.#dropped
    if (dropped.size === 0) return dropped
    this.#dropped = new Map()
    const [first, second] = this.#told
    // Rather twice than never.
    if (this.#told.length >= TOLD_COUNT && first !== undefined && second !== undefined) {
      for (const [reason, records] of first.dropped) add(second.dropped, reason, records)
      this.#told.shift()
    }
    this.#told.push({ sequence: this.acked, dropped: new Map(dropped) })
    return dropped
  }

  /** It has read the acknowledgements up to a page: what it was told with later ones is told again. */
  heard(sequence: bigint): void {
    for (const told of this.#told) {
      if (told.sequence <= sequence) continue
      for (const [reason, records] of told.dropped) add(this.#dropped, reason, records)
    }
    this.#told = []
  }
}

function add(to: Map<string, number>, reason: string, records: number): void {
  if (records > 0) to.set(reason, (to.get(reason) ?? 0) + records)
}
