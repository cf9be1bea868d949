import { keyOfText } from '../internal/seeded-hash.ts'
import { type Labels, seriesKey } from '../schema/series.ts'
import type { Aggregate, SeriesAnswer, SeriesQuery } from './form.ts'

/** One aggregation of series. */
export interface Level {
  /** Labels to keep. */
  readonly by: readonly string[]
  readonly aggregate: Aggregate
}

/** The aggregations of a query, in order: none, that of `by`, or that of `within` and then that of `by`. */
export function levelsOf({ by, aggregate, within }: Pick<SeriesQuery, 'by' | 'aggregate' | 'within'>): Level[] {
  if (by === undefined) return []
  const last = { by, aggregate }
  if (within === undefined) return [last]
  return [{ by: [...new Set([...by, ...within.by])], aggregate: within.aggregate }, last]
}

/** Series that are aggregated to one, and the labels of the result. */
export interface Group<T> {
  readonly labels: Labels
  readonly members: T[]
}

/**
 * Groups series with equal labels of `by`.
 *
 * @param kindOf A text that must be equal too. Default: none.
 */
export function groupsOf<T extends { readonly labels: Labels }>(
  series: readonly T[],
  by: readonly string[],
  kindOf: (member: T) => string = () => '',
): Group<T>[] {
  const groups = new Map<string, Group<T>>()
  for (const member of series) {
    const labels = Object.fromEntries(
      by.filter((name) => Object.hasOwn(member.labels, name)).map((name) => [name, member.labels[name] ?? '']),
    )
    const key = keyOfText(`${seriesKey(labels)}\n${kindOf(member)}`)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { labels, members: [member] })
    else group.members.push(member)
  }
  return [...groups.values()]
}

/** Aggregates series with equal labels of `by`. NaN values are ignored; the result of only NaN values is NaN. */
export function aggregateSeries(
  series: readonly SeriesAnswer[],
  by: readonly string[],
  how: Aggregate,
): SeriesAnswer[] {
  return groupsOf(series, by).map(({ labels, members }) => ({
    labels,
    values: joinColumns(
      members.map(({ values }) => values),
      how,
    ),
    resetsMs: [...new Set(members.flatMap((member) => member.resetsMs))].sort((a, b) => a - b),
  }))
}

/** Aggregates columns of one grid. NaN values are ignored; the result of only NaN values is NaN, even for `count`. */
export function joinColumns(columns: readonly Float64Array[], how: Aggregate): Float64Array {
  const length = columns[0]?.length ?? 0
  const joined = new Float64Array(length).fill(Number.NaN)
  for (let i = 0; i < length; i++) {
    let result = Number.NaN
    let count = 0
    for (const values of columns) {
      const value = values[i] as number
      if (Number.isNaN(value)) continue
      if (count++ === 0) result = value
      else if (how === 'min') result = Math.min(result, value)
      else if (how === 'max') result = Math.max(result, value)
      else result += value
    }
    if (how === 'avg') joined[i] = result / count
    else joined[i] = how === 'count' && count > 0 ? count : result
  }
  return joined
}
