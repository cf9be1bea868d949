import type { Palette } from '../components/palette.ts'
import { freePlace, type PlotBox } from './plot-box.ts'
import type { PlotModel } from './plot-model.ts'

/** From a limit to the middle of its name. Unit: CSS pixels. */
const NAME_PX = 9
/** From the edge of the plot to a name. Unit: CSS pixels. */
const EDGE_PX = 4
/** Least distance of the middle of a name from the top of the plot. Unit: CSS pixels. */
const TOP_PX = 6
const TEXT_FONT = '"Inter Variable", system-ui, sans-serif'

/**
 * Draws hard limits: dotted lines with their names, where neither a line nor another text is, or at least no other
 * text.
 */
export function drawLimits(context: CanvasRenderingContext2D, model: PlotModel, palette: Palette, box: PlotBox): void {
  const { left, top, width, unit } = box
  for (const { at, text } of model.limits) {
    const y = limitHeight(at, model, box)
    if (y < top - unit) continue
    context.setLineDash([2.5 * unit, 2.5 * unit])
    context.lineWidth = unit
    context.strokeStyle = palette.ink2
    context.beginPath()
    context.moveTo(left, y)
    context.lineTo(left + width, y)
    context.stroke()
    context.font = `${11 * unit}px ${TEXT_FONT}`
    const textWidth = context.measureText(text).width
    const lefts = [left + EDGE_PX * unit, left + width - textWidth - EDGE_PX * unit, left + (width - textWidth) / 2]
    const heights = [y - NAME_PX * unit, y + NAME_PX * unit].filter((middle) => middle > top + TOP_PX * unit)
    const places = lefts.flatMap((fromX) => heights.map((middle) => ({ fromX, toX: fromX + textWidth, y: middle })))
    const place = freePlace(model, box, places)
    if (!place) continue
    box.texts.push(place)
    drawOnPaper(context, text, place.fromX, place.y, palette, unit)
  }
}

/** Where the line of a limit lies. Unit: canvas pixels. */
export function limitHeight(at: number, { bottom, top }: Pick<PlotModel, 'bottom' | 'top'>, box: PlotBox): number {
  const share = (at - bottom) / (top - bottom || 1)
  return Math.round(box.top + box.height * (1 - share)) + box.unit / 2
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
