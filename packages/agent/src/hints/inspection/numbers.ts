// NaN means unknown. Every comparison with NaN is false, so a missing value never makes a rule hold.

/** Median of the known numbers; NaN if none is known. */
export function median(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  const middle = known.length >> 1
  if (known.length === 0) return Number.NaN
  const upper = known[middle] ?? Number.NaN
  return known.length % 2 === 1 ? upper : (upper + (known[middle - 1] ?? Number.NaN)) / 2
}

/**
 * For each number, the {@link median} of all others. The numbers are sorted once, because a host may have hundreds of
 * GPUs.
 */
export function mediansOfOthers(values: readonly number[]): number[] {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  return values.map((value) => {
    const own = Number.isNaN(value) ? known.length : known.indexOf(value)
    const count = own === known.length ? own : known.length - 1
    const other = (place: number) => known[place < own ? place : place + 1] ?? Number.NaN
    const middle = count >> 1
    return count % 2 === 1 ? other(middle) : (other(middle) + other(middle - 1)) / 2
  })
}

/** The first known number; NaN if none is known. */
export function firstKnown(...values: readonly number[]): number {
  return values.find((value) => !Number.isNaN(value)) ?? Number.NaN
}

/** Sum of the known numbers; NaN if none is known. */
export function sumKnown(...values: readonly number[]): number {
  return values.reduce((sum, value) => (Number.isNaN(value) ? sum : (Number.isNaN(sum) ? 0 : sum) + value), Number.NaN)
}

/** Largest known number; NaN if none is known. */
export function maxKnown(...values: readonly number[]): number {
  return values.reduce((most, value) => (value <= most || Number.isNaN(value) ? most : value), Number.NaN)
}
