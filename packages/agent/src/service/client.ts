import type { Untaken } from '@sonde/sdk/internal'

/** Records by reason. Reasons are words of the code, none of a client. */
type Counts = Untaken['dropped']

/** A page that the sinks have and that is not acknowledged yet. */
interface PageInFlight {
  readonly sequence: bigint
  readonly bytes: number
}

/** Records that an acknowledgement reports as dropped or hidden. */
interface LossNotice {
  readonly sequence: bigint
  readonly untaken: Untaken
}

const NOTHING: Untaken = { dropped: {}, hidden: {} }

/** Limit of separate loss notices until the client connects again; older notices are merged. */
const LOSS_NOTICE_COUNT = 64

/**
 * A client for the life of its process, over all its connections: its accepted and acknowledged pages.
 */
export class Client {
  /** Random, of the client's choosing. */
  readonly id: bigint
  /** The last accepted or refused page. */
  accepted: bigint
  /** The last page that is acknowledged. */
  acked: bigint
  /** Called when more is acknowledged; undefined while nobody is connected. */
  onProgress: (() => void) | undefined
  /** Memory of pages that are not acknowledged. Unit: bytes. */
  inFlightBytes = 0
  #inFlight: PageInFlight[] = []
  /** Dropped records of pages that no flush of the sinks is for yet. */
  #refused: Untaken = NOTHING
  /** Dropped records of pages of the flush that is under way. */
  #flushing: Untaken = NOTHING
  /** Records of acknowledged pages that the client does not know of yet. */
  #unreported: Untaken = NOTHING
  /** Loss notices by acknowledgement, which the client may not have read. */
  #lossNotices: LossNotice[] = []
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
    this.#refused = sumOf(this.#refused, { dropped: { [reason]: records }, hidden: {} })
  }

  /** Starts a flush for all accepted pages; returns the last of them. */
  gather(): bigint {
    this.#flushing = sumOf(this.#flushing, this.#refused)
    this.#refused = NOTHING
    return this.accepted
  }

  /**
   * The sinks are done with the pages up to `sequence`, which `gather` gave, and dropped or hid some of the records:
   * the client is told. Gives the memory that the pages took. Unit: bytes.
   */
  done(sequence: bigint, untaken: Untaken): number {
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
    this.#unreported = sumOf(this.#unreported, sumOf(this.#flushing, untaken))
    this.#flushing = NOTHING
    this.onProgress?.()
    if (this.acked >= this.accepted) this.#settled.resolve()
    return releasedBytes
  }

  /** Resolves when every page accepted so far is acknowledged. */
  async settled(): Promise<void> {
    if (this.acked >= this.accepted) return
    this.#settled = Promise.withResolvers()
    await this.#settled.promise
  }

  /**
   * Records of acknowledged pages that were dropped or are hidden. The acknowledgement of all these pages reports them
   * to the client: once, unless it connects again and has not {@link heard} that.
   */
  takeUntaken(): Untaken {
    const untaken = this.#unreported
    if (isNothing(untaken)) return untaken
    this.#unreported = NOTHING
    const [first, second] = this.#lossNotices
    // To report records twice is better than never.
    if (this.#lossNotices.length >= LOSS_NOTICE_COUNT && first !== undefined && second !== undefined) {
      this.#lossNotices.splice(0, 2, { sequence: second.sequence, untaken: sumOf(first.untaken, second.untaken) })
    }
    this.#lossNotices.push({ sequence: this.acked, untaken })
    return untaken
  }

  /** The client has read the acknowledgements up to a page; later loss notices are sent again. */
  heard(sequence: bigint): void {
    for (const notice of this.#lossNotices) {
      if (notice.sequence > sequence) this.#unreported = sumOf(this.#unreported, notice.untaken)
    }
    this.#lossNotices = []
  }
}

function sumOf(a: Untaken, b: Untaken): Untaken {
  if (isNothing(a)) return b
  return isNothing(b) ? a : { dropped: added(a.dropped, b.dropped), hidden: added(a.hidden, b.hidden) }
}

function added(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a }
  for (const [reason, records] of Object.entries(b)) sum[reason] = (sum[reason] ?? 0) + records
  return sum
}

function isNothing({ dropped, hidden }: Untaken): boolean {
  return Object.keys(dropped).length === 0 && Object.keys(hidden).length === 0
}
