import type uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { drawTints } from './event-marks.ts'
import { drawGaps } from './gap-marks.ts'
import { newestPosition } from './gaps.ts'
import { drawLimits } from './limit-marks.ts'
import type { PlotBox } from './plot-box.ts'
import type { PlotModel } from './plot-model.ts'

/** Draws the parts under the lines: hatched gaps, limits, resets, and the live edge. */
export function drawDecorations(plot: uPlot, model: PlotModel, palette: Palette): void {
  const context = plot.ctx
  const unit = devicePixelRatio
  const { left, top, width, height } = plot.bbox
  const x = (ms: number): number => Math.round(plot.valToPos(ms, 'x', true))
  const first = Math.max(0, Math.ceil((model.fromMs - (model.times[0] ?? 0)) / model.stepMs))
  const last = Math.min(model.times.length - 1, Math.floor((model.toMs - (model.times[0] ?? 0)) / model.stepMs))
  context.save()
  context.beginPath()
  context.rect(left, top, width, height)
  context.clip()
  const edge = newestPosition(model.columns, first, last)
  // Whether what held then still holds is not known after the newest sample.
  const heldToMs = model.isLive && edge >= 0 ? model.times[edge]! : model.toMs
  // A colour under a tint would be another place on the scale.
  if (!model.heat) drawTints(context, model.marks, palette, { x, top, height, toMs: heldToMs })
  const box: PlotBox = { first, last, x, top, height, left, width, unit, texts: [] }
  if (model.isKnown) drawGaps(context, model, palette, box)
  drawLimits(context, model, palette, box)
  for (const at of model.resetsMs) drawNotch(context, x(at), top + height, unit, palette)
  if (model.isLive && edge >= 0) {
    context.setLineDash([1.5 * unit, 2.5 * unit])
    context.lineWidth = unit
    context.strokeStyle = palette.gap
    const at = x(model.times[edge]!) + unit / 2
    context.beginPath()
    context.moveTo(at, top)
    context.lineTo(at, top + height)
    context.stroke()
  }
  context.restore()
}

function drawNotch(context: CanvasRenderingContext2D, x: number, y: number, unit: number, palette: Palette): void {
  context.setLineDash([])
  context.lineWidth = 1.2 * unit
  context.strokeStyle = palette.ink2
  context.fillStyle = palette.surface
  context.beginPath()
  context.moveTo(x - 4 * unit, y)
  context.lineTo(x, y - 6 * unit)
  context.lineTo(x + 4 * unit, y)
  context.fill()
  context.stroke()
}
