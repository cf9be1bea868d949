import type uPlot from 'uplot'
import { drawTints } from './event-marks.ts'
import { drawGaps } from './gap-marks.ts'
import { newestPosition } from './gaps.ts'
import type { Palette } from './palette.ts'
import { isFree, type PlotBox } from './plot-box.ts'
import type { PlotModel } from './plot-model.ts'

/** From a limit to the middle of its name. Unit: CSS pixels. */
const LIMIT_NAME_PX = 9
const TEXT_FONT = '"Inter Variable", system-ui, sans-serif'

/** Draws what lies under the lines: hatched gaps, limits, resets, and the live edge. */
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
  drawTints(context, model.marks, palette, { x, top, height, toMs: model.toMs })
  const box: PlotBox = { first, last, x, top, height, left, width, unit }
  if (model.isKnown) drawGaps(context, model, palette, box)
  for (const limit of model.limits) drawLimit(context, limit, { model, palette, box })
  for (const at of model.resetsMs) drawNotch(context, x(at), top + height, unit, palette)
  const edge = newestPosition(model.columns, first, last)
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

/** A dotted line with its name, above or below it where no line passes. */
function drawLimit(
  context: CanvasRenderingContext2D,
  { at, text }: PlotModel['limits'][number],
  { model, palette, box }: { readonly model: PlotModel; readonly palette: Palette; readonly box: PlotBox },
): void {
  const { left, top, width, height, unit } = box
  const share = (at - model.bottom) / (model.top - model.bottom || 1)
  const y = Math.round(top + height * (1 - share)) + unit / 2
  if (y < top - unit) return
  context.setLineDash([2.5 * unit, 2.5 * unit])
  context.lineWidth = unit
  context.strokeStyle = palette.ink2
  context.beginPath()
  context.moveTo(left, y)
  context.lineTo(left + width, y)
  context.stroke()
  context.font = `${11 * unit}px ${TEXT_FONT}`
  const textWidth = context.measureText(text).width
  const lefts = [left + 4 * unit, left + width - textWidth - 4 * unit]
  const heights = [y - LIMIT_NAME_PX * unit, y + LIMIT_NAME_PX * unit].filter((middle) => middle > top + 6 * unit)
  const places = lefts.flatMap((fromX) => heights.map((middle) => ({ fromX, toX: fromX + textWidth, y: middle })))
  const place = places.find((wanted) => isFree(model, box, wanted)) ?? places[0]
  if (place) drawOnPaper(context, text, place.fromX, place.y, palette, unit)
}

/** A text that can be read over a hatch. */
function drawOnPaper(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  palette: Palette,
  unit: number,
): void {
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  context.setLineDash([])
  context.lineJoin = 'round'
  context.lineWidth = 3 * unit
  context.strokeStyle = palette.surface
  context.strokeText(text, x, y)
  context.fillStyle = palette.ink3
  context.fillText(text, x, y)
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
