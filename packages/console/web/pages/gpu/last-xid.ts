import type { Labels } from '@sonde/sdk/api'
import { compareNames } from '../../format/names.ts'

/** Counts of XID errors, one series per XID. The source still reports them when the GPU no longer answers. */
export const XID_EVENTS = 'nvml_xid_events_total'

/**
 * The latest XID errors; empty if there were none, undefined if no source reports them. Prefers the counts that rose
 * last, because they also cover a GPU that fell off the bus before its gauge was read again. If no count rose in the
 * window, uses the gauge; without the gauge, all XIDs with a count.
 */
export function lastXids(
  gauge: string | undefined,
  counts: readonly { readonly labels: Labels; readonly values: Float64Array }[],
): readonly string[] | undefined {
  const begin = Math.min(...counts.map(({ values }) => values.findIndex(isKnown)).filter((at) => at >= 0))
  const told = counts.map(({ labels, values }) => ({ xid: labels.xid ?? '', ...riseOf(values, begin) }))
  const newest = Math.max(-1, ...told.map(({ roseAt }) => roseAt))
  const named = (some: typeof told): readonly string[] => some.map(({ xid }) => xid).sort(compareNames)
  if (newest >= 0) return named(told.filter(({ roseAt }) => roseAt === newest))
  if (gauge !== undefined && gauge !== '0') return [gauge]
  return gauge === undefined && told.length === 0 ? undefined : named(told.filter(({ count }) => count > 0))
}

/**
 * The position where a count last rose, or -1, and its newest value. A series that starts later than others starts with
 * its first error.
 */
function riseOf(values: Float64Array, begin: number): { readonly roseAt: number; readonly count: number } {
  let roseAt = -1
  let count = Number.NaN
  values.forEach((value, position) => {
    if (!isKnown(value)) return
    if (value > count || (Number.isNaN(count) && position > begin && value > 0)) roseAt = position
    count = value
  })
  return { roseAt, count }
}

function isKnown(value: number): boolean {
  return !Number.isNaN(value)
}
