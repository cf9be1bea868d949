/** One number that a benchmark measured. */
export interface Figure {
  readonly name: string
  readonly value: number
  /** `x` for a ratio to the peer that the name names. */
  readonly unit: string
  /** What it should reach, and whether it did. */
  readonly gate?: string
}

/** The result of a benchmark. */
export interface BenchResult {
  readonly figures: readonly Figure[]
  /** Notes for people: method, sizes, versions. */
  readonly lines: readonly string[]
}

/** Type of the export `run` of every `bench/NAME/bench.ts`. */
export type RunBench = (options: { readonly rounds: number }) => Promise<BenchResult>

/** The middle of values; the mean of the two middle ones where their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** A gate in words: whether a figure reached its minimum. */
export function atLeast(value: number, wanted: number): string {
  return `≥ ${wanted}: ${value >= wanted ? 'met' : 'missed'}`
}

/** A gate in words: whether a figure stayed within its maximum. */
export function atMost(value: number, allowed: number): string {
  return `≤ ${allowed}: ${value <= allowed ? 'met' : 'missed'}`
}
