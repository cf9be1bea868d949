/** The part of the time that upkeep takes while pages keep coming and little waits for it. */
const PART_MIN = 1 / 8
/** From this part of the bound on, upkeep takes more. */
const RISE_FROM = 3 / 4
/** Time that upkeep may save up. Unit: milliseconds. */
const SAVED_MS_MAX = 100
/** Without a page for so long, upkeep has all the time. Unit: milliseconds. */
const QUIET_MS = 100
/** The same from {@link RISE_FROM} on, where the time between two pages is upkeep's too. Unit: milliseconds. */
const RISEN_QUIET_MS = 1
/** How long upkeep holds the thread before questions and pages get their turn. Unit: milliseconds. */
const TURN_MS = 20
/** The same where the backlog is full: longer than it takes to compact a page. Unit: milliseconds. */
const FULL_TURN_MS = 250

/**
 * How much of the thread's time upkeep takes: all of it while no pages come or somebody waits for it, else an eighth,
 * and more the nearer the backlog is to its bound: then no time between two pages is left over. At the bound each page
 * waits until about as much is compacted as the page before brought.
 */
export class UpkeepShare {
  readonly #boundBytes: number
  #pageMs = Number.NEGATIVE_INFINITY
  #countedMs = 0
  /** Time that upkeep may take; below zero where it took more. Unit: milliseconds. */
  #savedMs = 0

  /** @param boundBytes Records that may wait for compaction. */
  constructor(boundBytes: number) {
    this.#boundBytes = boundBytes
  }

  /** Whether as much waits as may. */
  isFull(backlogBytes: number): boolean {
    return backlogBytes >= this.#boundBytes
  }

  /** A page was written. */
  pageWritten(nowMs: number): void {
    this.#pageMs = nowMs
  }

  /**
   * How long upkeep may run now; 0 where pages go first. Unit: milliseconds.
   *
   * @param isAwaited Whether somebody asked for it and waits: then it goes on, a turn after each page.
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

  /** Upkeep had a turn. */
  took(ms: number): void {
    this.#savedMs = Math.max(0, this.#savedMs) - ms
  }
}
