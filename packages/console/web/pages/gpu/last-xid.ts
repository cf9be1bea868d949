import type { Labels } from '@sonde/sdk/api'
import { compareNames } from '../../format/names.ts'

/** Counts of XID errors, one series a number. They are told also when the GPU itself answers no more. */
export const XID_EVENTS = 'nvml_xid_events_total'

/**
 * The XID errors that came last, empty if there was none; undefined if nobody tells. Counts say which rose last,
 * also of a GPU that fell off the bus before its gauge could be read again; where none rose in the window the gauge
 * says it, and where that is silent all that ever came.
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
 * Where a count rose last, -1 where it did not, and its newest value. A series that begins after others began with its
 * first error.
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
