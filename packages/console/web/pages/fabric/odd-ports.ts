import { deviationOf, HERD_MIN_COUNT, LIT_ABOVE, LIT_RUN_COUNT, spreadOf } from '../../chart/herd.ts'
import { ValueAxes } from '../../chart/value-axis.ts'
import { meanReading, type ReadSpan } from '../../devices/device-reading.ts'
import { scaledSpec } from './port-charts.ts'
import type { PortRow } from './port-data.ts'
import { PORT_SIGNALS, type PortSignal } from './port-signals.ts'

const SIGNALS = Object.keys(PORT_SIGNALS) as PortSignal[]
/** Newest samples checked, and how many newer samples may be missing. Not every sample of a burst shows trouble. */
const LOOKED_COUNT = 5
const MISSING_COUNT = 5

/**
 * Signals in which a port is an outlier among its siblings, by port id. The rule is the same as in charts: 3 of the 5
 * newest samples, or, for a past window, the mean or the extremes. Groups of fewer than four ports have no outliers.
 */
export function oddSignals(
  groups: readonly (readonly PortRow[])[],
  span: ReadSpan,
): ReadonlyMap<string, ReadonlySet<PortSignal>> {
  const found = new Map<string, Set<PortSignal>>()
  for (const rows of groups) {
    for (const signal of SIGNALS) {
      for (const { device } of oddRows(rows, signal, span)) {
        const signals = found.get(device.id) ?? new Set()
        found.set(device.id, signals.add(signal))
      }
    }
  }
  return found
}

function oddRows(rows: readonly PortRow[], signal: PortSignal, span: ReadSpan): readonly PortRow[] {
  const herd = rows.filter(({ columns }) => columns[signal] !== undefined)
  if (herd.length < HERD_MIN_COUNT) return []
  const spec = scaledSpec(signal, herd)
  const columns = spec.members.map(({ values }) => values)
  const end = columns[0]!.length
  const { bottom, top } = new ValueAxes().of(spec, { from: 0, to: end - 1, newest: end - 1, stepMs: 1_000 })
  if (!span.isNow) {
    const readings = columns.map((values) => meanReading(values, span))
    const isOdd = (['value', 'low', 'high'] as const).map((end) =>
      outliers(
        readings.map((one) => one[end]),
        top - bottom,
      ),
    )
    return herd.filter((_, order) => isOdd.some((odd) => odd[order]))
  }
  const counts = new Array<number>(herd.length).fill(0)
  let looked = 0
  for (let at = end - 1; at >= Math.max(0, end - LOOKED_COUNT - MISSING_COUNT) && looked < LOOKED_COUNT; at--) {
    const values = columns.map((column) => column[at]!)
    if (values.every(Number.isNaN)) continue
    looked++
    outliers(values, top - bottom).forEach((isOdd, order) => {
      if (isOdd) counts[order]!++
    })
  }
  return herd.filter((_, order) => counts[order]! >= LIT_RUN_COUNT)
}

/** Marks the outliers among values. */
function outliers(values: readonly number[], scale: number): readonly boolean[] {
  const { median, spread } = spreadOf(values)
  return values.map((value) => deviationOf(value, median, spread, scale) > LIT_ABOVE)
}
