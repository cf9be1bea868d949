import type { Labels } from '../schema/series.ts'
import { groupsOf, joinColumns } from './aggregate.ts'
import type { Column } from './column.ts'
import { type Evaluated, evaluate, gainsOf } from './evaluate.ts'
import type { Aggregate, Bin, QueryFunction, SeriesAnswer } from './form.ts'

/** The computed values of every bin of one histogram. */
export interface Histogram {
  readonly labels: Labels
  /** Upper edges of all bins but the last. */
  readonly edges: readonly number[]
  /** Values on the grid for each bin, the lowest first. */
  readonly bins: readonly Float64Array[]
  readonly resetsMs: readonly number[]
}

/**
 * Computes one function of every bin on the grid. The bins of a histogram restart together: if one of them fell, the
 * increase of all others is unknown, even if they rose.
 *
 * @param columns A column a bin, the lowest first, with equal times.
 */
export function evaluateBins(
  columns: readonly Column[],
  fn: QueryFunction,
  grid: Float64Array,
  stepMs: number,
): Pick<Histogram, 'bins' | 'resetsMs'> {
  if (fn !== 'rate' && fn !== 'increase' && fn !== 'quantile') {
    return { bins: columns.map((column) => evaluate(column, fn, grid, stepMs).values), resetsMs: [] }
  }
  const known = columns.map(gainsOf)
  const resetsMs = [...new Set(known.flatMap((bin) => bin.resetsMs))].sort((a, b) => a - b)
  const restarted = new Set(resetsMs)
  const bins = columns.map((column, bin): Evaluated['values'] => {
    const gains = known[bin]?.gains ?? new Float64Array(0)
    const increases = gains.map((gain, i) => (restarted.has(column.times[i] as number) ? Number.NaN : gain))
    return evaluate({ ...column, values: { increases } }, fn === 'rate' ? 'rate' : 'increase', grid, stepMs).values
  })
  return { bins, resetsMs }
}

/** Aggregates histograms with equal labels of `by` and equal edges. */
export function joinHistograms(
  histograms: readonly Histogram[],
  by: readonly string[],
  how: Aggregate,
): { readonly joined: Histogram[]; readonly isApart: boolean } {
  const joined = groupsOf(histograms, by, ({ edges }) => edges.join()).map(({ labels, members }): Histogram => {
    const edges = members[0]?.edges ?? []
    const columnsOf = (bin: number) => members.map(({ bins }) => bins[bin] ?? new Float64Array(0))
    return {
      labels,
      edges,
      bins: Array.from({ length: edges.length + 1 }, (_, bin) => joinColumns(columnsOf(bin), how)),
      resetsMs: [...new Set(members.flatMap(({ resetsMs }) => resetsMs))].sort((a, b) => a - b),
    }
  })
  return { joined, isApart: joined.length > groupsOf(histograms, by).length }
}

/** Returns a series for each bin. */
export function seriesOfBins({ labels, edges, bins, resetsMs }: Histogram): SeriesAnswer[] {
  return bins.map((values, i) => ({ labels, bin: binAt(edges, i), values, resetsMs }))
}

function binAt(edges: readonly number[], bin: number): Bin {
  return { above: edges[bin - 1] ?? null, upTo: edges[bin] ?? null }
}

/** The quantile of the observations of each step; NaN without observations. */
export function seriesOfQuantile({ labels, edges, bins, resetsMs }: Histogram, quantile: number): SeriesAnswer {
  const counts = new Float64Array(bins.length)
  const values = Float64Array.from(bins[0] ?? [], (_, i) => {
    for (const [bin, column] of bins.entries()) counts[bin] = column[i] as number
    return quantileOf(quantile, edges, counts)
  })
  return { labels, values, resetsMs }
}

/**
 * A quantile, interpolated within its bin like `histogram_quantile` of Prometheus: values are spread evenly between the
 * edges of a bin, the lowest bin starts at 0, and the quantile in the last bin is its lower edge.
 *
 * @param counts Observations of each bin, not cumulative. A sum of 0 or NaN gives NaN.
 */
export function quantileOf(quantile: number, edges: readonly number[], counts: ArrayLike<number>): number {
  let total = 0
  for (let bin = 0; bin < counts.length; bin++) total += counts[bin] as number
  if (!(total > 0)) return Number.NaN
  const rank = quantile * total
  let below = 0
  for (let bin = 0; bin < edges.length; bin++) {
    const count = counts[bin] as number
    const upTo = edges[bin] as number
    if (below + count >= rank) {
      if (bin === 0 && upTo <= 0) return upTo
      const above = edges[bin - 1] ?? 0
      return above + ((upTo - above) * (rank - below)) / count
    }
    below += count
  }
  return edges.at(-1) ?? Number.NaN
}
