/** A run of positions, both ends inside. */
export interface Run {
  readonly from: number
  readonly to: number
}

/** Runs between two positions in which no column has a value. */
export function commonGaps(columns: readonly Float64Array[], from: number, to: number): Run[] {
  return runs(from, to, (at) => columns.every((values) => Number.isNaN(values[at]!)))
}

/** Runs in which this column has no value although some other has. */
export function ownGaps(values: Float64Array, columns: readonly Float64Array[], from: number, to: number): Run[] {
  return runs(from, to, (at) => Number.isNaN(values[at]!) && columns.some((other) => !Number.isNaN(other[at]!)))
}

function runs(from: number, to: number, isGap: (at: number) => boolean): Run[] {
  const found: Run[] = []
  let start = -1
  for (let at = from; at <= to; at++) {
    if (isGap(at)) {
      if (start < 0) start = at
    } else if (start >= 0) {
      found.push({ from: start, to: at - 1 })
      start = -1
    }
  }
  if (start >= 0) found.push({ from: start, to })
  return found
}

/** Position of the newest sample that any column has, -1 where there is none. */
export function newestPosition(columns: readonly Float64Array[], from: number, to: number): number {
  for (let at = to; at >= from; at--) {
    for (const values of columns) if (!Number.isNaN(values[at]!)) return at
  }
  return -1
}
