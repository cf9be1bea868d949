import { HEAT_STEP_COUNT } from '../components/palette.ts'
import { edgeWords } from '../format/bins.ts'
import type { ChartSpec } from './chart-spec.ts'
import type { PlotLine } from './plot-model.ts'

/**
 * The share of the largest value at a position of the colour scale. The scale stretches small values, because users
 * look for the small tail: a hundredth of the largest value takes a tenth of the scale.
 */
export function heatOf(share: number): number {
  return share ** 2
}

/** The step of the scale for a value: 0 for a count of 0, -1 without a sample; any other count is above 0. */
export function heatStep(value: number, top: number): number {
  if (Number.isNaN(value)) return -1
  if (value <= 0) return 0
  return 1 + Math.min(HEAT_STEP_COUNT - 1, Math.floor(Math.sqrt(value / top) * HEAT_STEP_COUNT))
}

/** Names of the edges between bins, from the lowest. */
export function edgeNames({ members, edges }: Pick<ChartSpec, 'members' | 'edges'>): string[] {
  if (!edges) return []
  return members.flatMap(({ bin }) => (bin?.upTo == null ? [] : [edgeWords(bin.upTo, edges)]))
}

/** The fullest bins at a position, the fullest first; without empty bins. */
export function busiest(lines: readonly PlotLine[], at: number, count: number): readonly PlotLine[] {
  const held = ({ values }: PlotLine): number => values[at] ?? Number.NaN
  return lines
    .filter((line) => held(line) > 0)
    .sort((a, b) => held(b) - held(a))
    .slice(0, count)
}
