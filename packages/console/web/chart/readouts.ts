import type { ChartModel } from './chart-model.ts'
import { busiest } from './heat.ts'
import type { PlotLine } from './plot-model.ts'

/** Most readouts that a header has room for. */
const READOUT_LIMIT_COUNT = 4
/** The same for bins, which have long names. */
const HEAT_READOUT_COUNT = 2

/** The values of a header, in the order in which they are left out if space is short. */
export interface Readouts {
  /** Said before anything else: lit members of a herd, and lanes that are not quiet. */
  readonly lit: readonly PlotLine[]
  /** Said where there is room beside them; quiet lanes say it at their end. */
  readonly others: readonly PlotLine[]
  /** Lines that have no place among either. */
  readonly moreCount: number
}

/** What the header of a chart says of the samples at a position. */
export function readoutsOf({ plot, unit, herd }: ChartModel, at: number): Readouts {
  if (plot.heat) {
    const others = busiest(plot.lines, at, HEAT_READOUT_COUNT)
    const counted = plot.lines.filter((line) => readingOf(line, at) > 0)
    return { lit: [], others, moreCount: counted.length - others.length }
  }
  const named = plot.lines.filter((line) => {
    // Lanes of time shares are listed only if they are above 0.
    if (line.lane) return unit.quantity.timeShare === undefined || readingOf(line, at) > 0
    return line.slot !== undefined || herd
  })
  const isLit = ({ lane, slot }: PlotLine): boolean => (lane ? !lane.isQuiet : herd !== undefined && slot !== undefined)
  const lit = named.filter(isLit)
  const others = named.filter((line) => !isLit(line) && (lit.length === 0 || !line.lane))
  const said = lit.slice(0, READOUT_LIMIT_COUNT)
  const beside = others.slice(0, READOUT_LIMIT_COUNT - said.length)
  return { lit: said, others: beside, moreCount: lit.length + others.length - said.length - beside.length }
}

/** The value of a line at a position, NaN if it has none. */
export function readingOf({ values }: PlotLine, at: number): number {
  return values[at] ?? Number.NaN
}
