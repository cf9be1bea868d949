import { HERD_MIN_COUNT, LIT_ABOVE, LIT_RUN_COUNT, spreadOf } from '../../chart/herd.ts'
import type { PortRow } from './port-data.ts'
import { PORT_SIGNALS, type PortSignal } from './port-signals.ts'

const SIGNALS = Object.keys(PORT_SIGNALS) as PortSignal[]
/** Newest samples that are looked at, and how many further may be missing at the end: a burst leaves some of them without trouble. */
const LOOKED_COUNT = 5
const MISSING_COUNT = 5
/** Deviations below this share of the largest value are no news, as in charts. */
const FLOOR_SHARE = 0.02

/** Signals in which a port stands out from its siblings in 3 of its 5 newest samples, by its id. Fewer than four are no herd: none of them is odd. */
export function oddSignals(groups: readonly (readonly PortRow[])[]): ReadonlyMap<string, ReadonlySet<PortSignal>> {
  const found = new Map<string, Set<PortSignal>>()
  for (const rows of groups) {
    for (const signal of SIGNALS) {
      for (const { device } of oddRows(rows, signal)) {
        const signals = found.get(device.id) ?? new Set()
        found.set(device.id, signals.add(signal))
      }
    }
  }
  return found
}

function oddRows(rows: readonly PortRow[], signal: PortSignal): readonly PortRow[] {
  const herd = rows.filter(({ columns }) => columns[signal] !== undefined)
  if (herd.length < HERD_MIN_COUNT) return []
  const columns = herd.map((row) => row.columns[signal]!)
  const end = columns[0]!.length
  const counts = new Array<number>(herd.length).fill(0)
  let looked = 0
  for (let at = end - 1; at >= Math.max(0, end - LOOKED_COUNT - MISSING_COUNT) && looked < LOOKED_COUNT; at--) {
    const values = columns.map((column) => column[at]!)
    if (values.every(Number.isNaN)) continue
    looked++
    const { median, spread } = spreadOf(values)
    const floor = Math.max(FLOOR_SHARE * Math.max(...values.map((value) => Math.abs(value) || 0)), Number.MIN_VALUE)
    values.forEach((value, order) => {
      if (Math.abs(value - median) > LIT_ABOVE * Math.max(spread, floor)) counts[order]!++
    })
  }
  return herd.filter((_, order) => counts[order]! >= LIT_RUN_COUNT)
}
