import type uPlot from 'uplot'
import type { PlotModel } from './plot-model.ts'

/** A span that is narrower was a click that slipped. Unit: CSS pixels. */
export const DRAG_MIN_PX = 6

/** The sample that the pointer is at; null if it left. Where there is no sample it is the time itself. */
export function hoveredTime(plot: uPlot, { times, stepMs }: PlotModel): number | null {
  const { left, idx } = plot.cursor
  if (left === undefined || left < 0) return null
  const timeMs = plot.posToVal(left, 'x')
  const newest = times[times.length - 1]
  if (idx === null || newest === undefined) return timeMs
  return Math.min(Math.round(timeMs / stepMs) * stepMs, newest)
}

/** The span that was dragged over, which is then let go; undefined if it was none. */
export function takeDragged(plot: uPlot): { readonly fromMs: number; readonly toMs: number } | undefined {
  const { left, width } = plot.select
  if (width < DRAG_MIN_PX) return undefined
  const fromMs = plot.posToVal(left, 'x')
  const toMs = plot.posToVal(left + width, 'x')
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  return { fromMs, toMs }
}
