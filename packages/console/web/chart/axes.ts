import uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { formatClock } from '../format/time.ts'
import type { PlotModel } from './plot-model.ts'
import { labelStep, minorStep, timeTicks } from './scale.ts'

const AXIS_FONT = '11px "Inter Variable", system-ui, sans-serif'
const X_AXIS_PX = 24
const Y_AXIS_PX = 36
/** Before a plot knows its width. Unit: CSS pixels. */
const WIDTH_GUESS_PX = 300

/** The current model and theme of a plot. The plot outlives both. */
export interface DrawnPlot {
  readonly model: () => PlotModel
  readonly palette: () => Palette
}

/** The time below, and a few labels with their grid lines at the left. */
export function axesOf({ model, palette }: DrawnPlot): uPlot.Axis[] {
  const stroke = (): string => palette().ink3
  return [
    {
      font: AXIS_FONT,
      stroke,
      size: X_AXIS_PX,
      gap: 3,
      grid: { show: false },
      ticks: { stroke: () => palette().line, size: 4, width: 1 },
      splits: (plot) => timeSplits(plot, model()),
      values: (plot, splits) => splits.map((at) => timeLabel(plot, model(), at)),
    },
    {
      font: AXIS_FONT,
      stroke,
      size: Y_AXIS_PX,
      gap: 6,
      grid: { stroke: () => palette().grid, width: 1 },
      ticks: { show: false },
      splits: () => model().ticks.map(({ at }) => at),
      values: () => model().ticks.map(({ text }) => text),
    },
  ]
}

/** Draws ticks between the labels of the time axis, such as half minutes. */
export function drawMinorTicks(plot: uPlot, { fromMs, toMs }: PlotModel, palette: Palette): void {
  const stepMs = minorStep(stepOf(plot, { fromMs, toMs }))
  if (stepMs === undefined) return
  const { ctx: context, bbox } = plot
  const unit = uPlot.pxRatio
  context.save()
  context.strokeStyle = palette.line
  context.lineWidth = unit
  context.beginPath()
  for (const at of timeTicks(fromMs, toMs, stepMs)) {
    const x = Math.round(plot.valToPos(at, 'x', true)) + unit / 2
    context.moveTo(x, bbox.top + bbox.height)
    context.lineTo(x, bbox.top + bbox.height + 3 * unit)
  }
  context.stroke()
  context.restore()
}

/** Room of one figure of a label. Unit: CSS pixels. */
const FIGURE_PX = 6.2

/** Where the labels of the time axis stand, from the left of the plotting area. Unit: CSS pixels. */
export function timeLabelSpans(
  plot: uPlot,
  model: PlotModel,
): readonly { readonly fromPx: number; readonly toPx: number }[] {
  return timeSplits(plot, model).map((at) => {
    const halfPx = (timeLabel(plot, model, at).length * FIGURE_PX) / 2
    const middlePx = plot.valToPos(at, 'x')
    return { fromPx: middlePx - halfPx, toPx: middlePx + halfPx }
  })
}

/**
 * Width of the plotting area in CSS pixels. What uPlot knows; asking the document would lay it out in the middle of an
 * update.
 */
export function widthOf(plot: uPlot): number {
  return plot.bbox.width / uPlot.pxRatio
}

function stepOf(plot: uPlot, { fromMs, toMs }: Pick<PlotModel, 'fromMs' | 'toMs'>): number {
  return labelStep(toMs - fromMs, widthOf(plot) || WIDTH_GUESS_PX)
}

function timeSplits(plot: uPlot, model: PlotModel): number[] {
  const { fromMs, toMs, zone } = model
  const offsetMs = zone === 'local' ? -new Date(toMs).getTimezoneOffset() * 60_000 : 0
  return timeTicks(fromMs, toMs, stepOf(plot, model), offsetMs)
}

function timeLabel(plot: uPlot, model: PlotModel, at: number): string {
  const stepMs = stepOf(plot, model)
  return formatClock(at, model.zone, stepMs >= 60_000 ? 'minutes' : stepMs >= 1000 ? 'seconds' : 'milliseconds')
}
