import { keyOfText } from '../internal/seeded-hash.ts'
import { type Labels, seriesKey } from '../schema/series.ts'
import type { Aggregate, SeriesAnswer } from './form.ts'

/**
 * Joins series that agree in the labels of `by`. A value that is NaN takes no part; where all are, the result is NaN.
 */
export function aggregateSeries(
  series: readonly SeriesAnswer[],
  by: readonly string[],
  how: Aggregate,
): SeriesAnswer[] {
  const groups = new Map<string, { labels: Labels; members: SeriesAnswer[] }>()
  for (const member of series) {
    const labels = Object.fromEntries(
      by.filter((name) => Object.hasOwn(member.labels, name)).map((name) => [name, member.labels[name] ?? '']),
    )
    const key = keyOfText(seriesKey(labels))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { labels, members: [member] })
    else group.members.push(member)
  }
  return [...groups.values()].map(({ labels, members }) => ({
    labels,
    values: joinValues(members, how),
    resetsMs: [...new Set(members.flatMap((member) => member.resetsMs))].sort((a, b) => a - b),
  }))
}

function joinValues(members: readonly SeriesAnswer[], how: Aggregate): Float64Array {
  const length = members[0]?.values.length ?? 0
  const joined = new Float64Array(length).fill(Number.NaN)
  for (let i = 0; i < length; i++) {
    let result = Number.NaN
    let count = 0
    for (const { values } of members) {
      const value = values[i] as number
      if (Number.isNaN(value)) continue
      if (count++ === 0) result = value
      else if (how === 'min') result = Math.min(result, value)
      else if (how === 'max') result = Math.max(result, value)
      else result += value
    }
    joined[i] = how === 'avg' ? result / count : result
  }
  return joined
}
