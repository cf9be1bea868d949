/** The share of time for upkeep while pages keep coming and the backlog is small. */
const PART_MIN = 1 / 8
/** Fill level of the backlog from which the share rises. */
const RISE_FROM = 3 / 4
/** Time that upkeep may save up. Unit: milliseconds. */
const SAVED_MS_MAX = 100
/** After this long without a page, upkeep gets all the time. Unit: milliseconds. */
const QUIET_MS = 100
/** The same from {@link RISE_FROM} on, so that upkeep also uses the time between two pages. Unit: milliseconds. */
const RISEN_QUIET_MS = 1
/** How long upkeep runs before questions and pages get their turn. Unit: milliseconds. */
const TURN_MS = 20
/** The same with a full backlog: longer than the compaction of a page takes. Unit: milliseconds. */
const FULL_TURN_MS = 250

/**
 * How much of the thread's time upkeep gets: all of it while no pages come or a caller waits for it, else an eighth.
 * The share rises as the backlog approaches its bound, and upkeep then uses all the time between two pages. At the
 * bound each page waits until about as much is compacted as the previous page added.
 */
export class UpkeepShare {
  readonly #boundBytes: number
  #pageMs = Number.NEGATIVE_INFINITY
  #countedMs = 0
  /** Time that upkeep may use; negative after it used more. Unit: milliseconds. */
  #savedMs = 0

  /** @param boundBytes Size of records that may wait for compaction. */
  constructor(boundBytes: number) {
    this.#boundBytes = boundBytes
  }

  /** Whether the backlog has reached its bound. */
  isFull(backlogBytes: number): boolean {
    return backlogBytes >= this.#boundBytes
  }

  /** A page was written. */
  pageWritten(nowMs: number): void {
    this.#pageMs = nowMs
  }

  /**
   * How long upkeep may run now; 0 if pages go first. Unit: milliseconds.
   *
   * @param isAwaited Whether a caller waits for it: then it continues, with a turn after each page.
   */
  turnMs(nowMs: number, backlogBytes: number, isAwaited = false): number {
    const fill = backlogBytes / this.#boundBytes
    const part = Math.max(PART_MIN, (fill - RISE_FROM) / (1 - RISE_FROM))
    this.#savedMs = Math.min(SAVED_MS_MAX, this.#savedMs + (nowMs - this.#countedMs) * part)
    this.#countedMs = nowMs
    if (this.isFull(backlogBytes)) return FULL_TURN_MS
    const isQuiet = nowMs - this.#pageMs >= this.quietMs(backlogBytes)
    return isAwaited || this.#savedMs > 0 || isQuiet ? TURN_MS : 0
  }

  /** How long after a page upkeep may run in any case. Unit: milliseconds. */
  quietMs(backlogBytes: number): number {
    return backlogBytes < this.#boundBytes * RISE_FROM ? QUIET_MS : RISEN_QUIET_MS
  }

  /** Records a turn of upkeep. */
  took(ms: number): void {
    this.#savedMs = Math.max(0, this.#savedMs) - ms
  }
}
