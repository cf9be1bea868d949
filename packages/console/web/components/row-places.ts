/** The rows in view of a long table, and the room that the other rows leave above and below. */
export interface RowView {
  readonly first: number
  /** The place after the last row that is drawn. */
  readonly end: number
  /** Unit: CSS pixels. */
  readonly abovePx: number
  readonly belowPx: number
}

/** Rows that are drawn above and below those in view, so that the keyboard reaches the next row. */
const MARGIN_COUNT = 4

/**
 * Where the rows of a long table stand. Rows have one height, but for those that were measured as higher or lower.
 */
export class RowPlaces {
  #rowPx: number
  #widthPx = 0
  /** By how much rows differ from the common height, by their place. */
  readonly #differences = new Map<number, number>()

  /** @param rowPx the assumed height until rows are measured */
  constructor(rowPx: number) {
    this.#rowPx = rowPx
  }

  /** Learns the heights of drawn rows of a table of this width. Returns whether that moves any row. */
  measure(first: number, heightsPx: readonly number[], widthPx: number): boolean {
    if (heightsPx.length === 0) return false
    let hasMoved = false
    if (widthPx !== this.#widthPx) {
      // At another width words wrap elsewhere, so heights that were measured no longer hold.
      this.#widthPx = widthPx
      this.#rowPx = heightsPx.toSorted((a, b) => a - b)[heightsPx.length >> 1]!
      this.#differences.clear()
      hasMoved = true
    }
    for (const [at, heightPx] of heightsPx.entries()) {
      const difference = heightPx - this.#rowPx
      const known = this.#differences.get(first + at) ?? 0
      if (Math.abs(difference - known) < 1) continue
      hasMoved = true
      this.#differences.set(first + at, difference)
    }
    return hasMoved
  }

  /** The distance of a row from the first row. Unit: CSS pixels. */
  topOf(place: number): number {
    let top = place * this.#rowPx
    for (const [at, difference] of this.#differences) if (at < place) top += difference
    return top
  }

  /** The rows to draw in a box of this height that is scrolled this far. */
  view(count: number, scrolledPx: number, heightPx: number): RowView {
    const first = Math.max(0, this.#placeAt(count, scrolledPx) - MARGIN_COUNT)
    const end = Math.min(count, this.#placeAt(count, scrolledPx + heightPx) + 1 + MARGIN_COUNT)
    const abovePx = this.topOf(first)
    return { first, end, abovePx, belowPx: this.topOf(count) - this.topOf(end) }
  }

  /** The last row whose top is at or above a distance. */
  #placeAt(count: number, topPx: number): number {
    let [low, high] = [0, Math.max(0, count - 1)]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.topOf(middle) <= topPx) low = middle
      else high = middle - 1
    }
    return low
  }
}
