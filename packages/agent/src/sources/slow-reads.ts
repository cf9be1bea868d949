/** A file whose last two reads both took longer is slow. Unit: milliseconds. */
const SLOW_MS = 1
/** Largest share of time for a single slow file: 5 ms every 5 s. */
const FILE_SHARE = 0.001
/** Largest share of time for all slow files of a source together. */
const ALL_SHARE = 0.05
/** A waiting file that nobody asked for in this time no longer waits. Unit: milliseconds. */
const WAITS_MAX_MS = 60_000

/** The cost of one file. */
export interface FileCost {
  /** Duration of the last read. Unit: milliseconds. */
  tookMs: number
  /** The shorter of the last two reads if the file is slow, otherwise 0. Unit: milliseconds. */
  slowMs: number
  /** Before this time the file is not read. Unit: milliseconds of the monotonic clock. */
  restsUntilMs: number
  /** When it was last asked whether it is due. Unit: milliseconds of the monotonic clock. */
  askedMs: number
}

/**
 * Paces the slow files of a source. The firmware answers for some counters, in milliseconds, and the reader waits. A
 * slow file uses at most 0.1 % of the time, and all of them 5 %. They are read one at a time, and the others keep their
 * pace.
 */
export class SlowReads {
  #nextMs = Number.NEGATIVE_INFINITY
  /** Slow files that have rested. The file that has waited longest is next. */
  readonly #waiting = new Set<FileCost>()

  /** Makes the cost of a new file. */
  newCost(): FileCost {
    return { tookMs: 0, slowMs: 0, restsUntilMs: Number.NEGATIVE_INFINITY, askedMs: 0 }
  }

  /** Whether a file is read now. The others keep their last value. */
  isDue(cost: FileCost, nowMs: number): boolean {
    if (cost.slowMs === 0) return true
    if (nowMs < cost.restsUntilMs) return false
    cost.askedMs = nowMs
    this.#waiting.add(cost)
    return nowMs >= this.#nextMs && this.#first(nowMs) === cost
  }

  /** Notes how long a read took. A single slow read may only mean that this process waited for the processor. */
  note(cost: FileCost, tookMs: number, nowMs: number): void {
    this.#waiting.delete(cost)
    const shorterMs = Math.min(tookMs, cost.tookMs)
    cost.tookMs = tookMs
    cost.slowMs = shorterMs > SLOW_MS ? shorterMs : 0
    if (cost.slowMs === 0) return
    cost.restsUntilMs = nowMs + periodOfMs(cost.slowMs)
    this.#nextMs = nowMs + tookMs / ALL_SHARE
  }

  /** Forgets a file that is no longer read. */
  forget(cost: FileCost): void {
    this.#waiting.delete(cost)
    Object.assign(cost, this.newCost())
  }

  #first(nowMs: number): FileCost | undefined {
    let first: FileCost | undefined
    for (const cost of this.#waiting) {
      if (nowMs - cost.askedMs > WAITS_MAX_MS) this.#waiting.delete(cost)
      else if (first === undefined || cost.restsUntilMs < first.restsUntilMs) first = cost
    }
    return first
  }
}

/** Time between two reads of a file with this cost; 0 if each sweep reads it. Unit: milliseconds. */
export function periodOfMs(costMs: number): number {
  return costMs > SLOW_MS ? costMs / FILE_SHARE : 0
}
