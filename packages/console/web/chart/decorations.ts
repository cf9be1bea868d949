import type uPlot from 'uplot'
import { type DisplayUnit, formatAxis } from '../format/number.ts'
import { formatClock, formatDuration, type TimeZoneChoice } from '../format/time.ts'
import type { ChartMark } from './chart-spec.ts'
import { spreadLabels } from './end-labels.ts'
import { drawFlags, drawTints } from './event-marks.ts'
import { commonGaps, newestPosition, ownGaps } from './gaps.ts'
import { drawHatch, drawMarker } from './marks.ts'
import type { Palette } from './palette.ts'
import type { PlotLine } from './plot.ts'

/** What stands around the lines. */
export interface Decorations {
  /** Hard limits: a dotted line with its name. */
  readonly limits: readonly { readonly value: number; readonly label: string }[]
  /** Things that began and ended: flags, and the span between them tinted. */
  readonly marks: readonly ChartMark[]
  /** Times at which a counter restarted. */
  readonly resetsMs: readonly number[]
  /** Every member's columns, to tell gaps of all from gaps of one. */
  readonly columns: readonly Float64Array[]
  /** Whether the right end is now. */
  readonly isLive: boolean
  /** Whether the samples are here, so that what is missing is a gap. */
  readonly isKnown: boolean
  /** Name of the band at the right end. */
  readonly bandLabel: string | undefined
}

interface DrawnModel extends Decorations {
  readonly times: Float64Array
  readonly stepMs: number
  readonly lines: readonly PlotLine[]
  readonly fromMs: number
  readonly toMs: number
  readonly bottom: number
  readonly top: number
  readonly unit: DisplayUnit
  readonly zone: TimeZoneChoice
}

const TEXT_FONT = 'system-ui, sans-serif'
const LABEL_MIN_PX = 14
const LABEL_MAX_PX = 104
const LABEL_DISTANCE_PX = 13
let measuring: CanvasRenderingContext2D | null = null

/** Room that the labels at the right end need, in CSS pixels. */
export function endWidth(lines: readonly PlotLine[], bandLabel: string | undefined): number {
  const texts = endTexts(lines, bandLabel)
  if (texts.length === 0) return LABEL_MIN_PX
  measuring ??= document.createElement('canvas').getContext('2d')
  if (!measuring) return LABEL_MAX_PX
  const context = measuring
  context.font = `500 11px "Inter Variable", ${TEXT_FONT}`
  const widest = Math.max(...texts.map((text) => context.measureText(text).width))
  return Math.min(LABEL_MAX_PX, Math.ceil(widest) + 14)
}

/** More lines than this are told apart in the header and the table, not at the right end. */
const LABELLED_LIMIT_COUNT = 8

function endTexts(lines: readonly PlotLine[], bandLabel: string | undefined): string[] {
  if (lines.length > LABELLED_LIMIT_COUNT) return []
  return lines.map((line) => (line.slot === undefined && bandLabel ? bandLabel : line.label))
}

/** Draws what lies under the lines: hatched gaps, limits, resets, and the live edge. */
export function drawDecorations(plot: uPlot, model: DrawnModel, palette: Palette): void {
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
  if (model.isKnown) drawGaps(context, model, palette, { first, last, x, top, height, left, width, unit })
  drawLimits(plot, model, palette, unit)
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

interface GapBox {
  readonly first: number
  readonly last: number
  readonly x: (ms: number) => number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly unit: number
}

function drawGaps(context: CanvasRenderingContext2D, model: DrawnModel, palette: Palette, box: GapBox): void {
  const { first, last, x, top, height, unit } = box
  const start = model.times[0] ?? model.toMs
  const newest = newestPosition(model.columns, first, last)
  const gaps = commonGaps(model.columns, first, model.isLive ? newest : last).map(({ from, to }) => ({
    fromMs: start + (from - 1) * model.stepMs,
    toMs: start + (to + 1) * model.stepMs,
    missing: to - from + 1,
  }))
  const leading = gaps[0] && gaps[0].fromMs < model.fromMs + model.stepMs ? gaps[0] : undefined
  if (newest < 0 || (start > model.fromMs + model.stepMs && !leading)) {
    gaps.unshift({ fromMs: model.fromMs, toMs: newest < 0 ? model.toMs : start, missing: 0 })
  }
  for (const gap of gaps) {
    const fromX = Math.max(box.left, x(gap.fromMs))
    const toX = Math.min(box.left + box.width, x(gap.toMs))
    const widthPx = Math.max(toX - fromX, unit)
    drawHatch(context, { x: fromX, y: top, width: widthPx, height }, palette.gap, unit)
    const isBeginning = fromX <= box.left + unit && newest >= 0
    const text = isBeginning
      ? `data begins ${formatClock(gap.toMs, model.zone)}`
      : newest < 0
        ? 'no sample'
        : `no sample, ${formatDuration(gap.missing * model.stepMs)}`
    labelGap(context, model, text, { fromX, toX, ...box }, palette)
  }
  for (const line of model.lines.slice(0, LABELLED_LIMIT_COUNT)) {
    if (line.slot === undefined) continue
    for (const run of ownGaps(line.values, model.columns, first, last)) {
      const fromX = x(start + (run.from - 1) * model.stepMs)
      const toX = x(start + (run.to + 1) * model.stepMs)
      const stripe = { x: fromX, y: top + height - 6 * unit, width: Math.max(toX - fromX, unit), height: 6 * unit }
      drawHatch(context, stripe, palette.slots[line.slot], unit)
    }
  }
}

/** Names a gap where it fits: inside it, or beside it where no line passes. */
function labelGap(
  context: CanvasRenderingContext2D,
  model: DrawnModel,
  text: string,
  box: GapBox & { readonly fromX: number; readonly toX: number },
  palette: Palette,
): void {
  const { unit, fromX, toX, left, width, top, height } = box
  context.font = `${11 * unit}px "Inter Variable", ${TEXT_FONT}`
  const textWidth = context.measureText(text).width
  const isInside = toX - fromX > textWidth + 16 * unit
  const at = isInside ? (fromX + toX - textWidth) / 2 : toX + 6 * unit
  if (!isInside && (at + textWidth > left + width || toX - fromX < 6 * unit)) return
  const heights = isInside ? [top + height / 2] : [top + height - 12 * unit, top + 12 * unit, top + height / 2]
  const y = heights.find((wanted) => isInside || isFree(model, box, { fromX: at, toX: at + textWidth, y: wanted }))
  if (y === undefined) return
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  if (isInside) {
    context.fillStyle = palette.surface
    context.fillRect(at - 4 * unit, y - 8 * unit, textWidth + 8 * unit, 16 * unit)
  }
  context.fillStyle = palette.ink3
  context.fillText(text, at, y)
}

/** Whether no line passes through the place of a text. */
function isFree(
  model: DrawnModel,
  box: GapBox,
  place: { readonly fromX: number; readonly toX: number; readonly y: number },
): boolean {
  const margin = 9 * box.unit
  const perUnit = box.height / (model.top - model.bottom || 1)
  for (let i = box.first; i <= box.last; i++) {
    const x = box.x(model.times[i]!)
    if (x < place.fromX - margin || x > place.toX + margin) continue
    for (const values of model.columns) {
      const y = box.top + box.height - (values[i]! - model.bottom) * perUnit
      if (Math.abs(y - place.y) < margin) return false
    }
  }
  return true
}

function drawLimits(plot: uPlot, model: DrawnModel, palette: Palette, unit: number): void {
  const context = plot.ctx
  const { left, width, top } = plot.bbox
  context.font = `${11 * unit}px "Inter Variable", ${TEXT_FONT}`
  context.textAlign = 'left'
  for (const { value, label } of model.limits) {
    const y = Math.round(plot.valToPos(value, 'y', true)) + unit / 2
    if (y < top - unit) continue
    context.setLineDash([2.5 * unit, 2.5 * unit])
    context.lineWidth = unit
    context.strokeStyle = palette.ink2
    context.beginPath()
    context.moveTo(left, y)
    context.lineTo(left + width, y)
    context.stroke()
    const text = `${label} ${formatAxis(model.unit, value)}`
    const isAbove = y - 14 * unit > top
    context.textBaseline = isAbove ? 'bottom' : 'top'
    context.fillStyle = palette.ink3
    context.fillText(text, left + 4 * unit, isAbove ? y - 2 * unit : y + 3 * unit)
  }
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

/** Draws markers and names at the right end of the lines, moved apart where they would touch. */
export function drawEnds(plot: uPlot, model: DrawnModel, palette: Palette): void {
  const context = plot.ctx
  const unit = devicePixelRatio
  const { left, top, width, height } = plot.bbox
  const texts = endTexts(model.lines, model.bandLabel)
  const last = Math.min(model.times.length - 1, Math.floor((model.toMs - (model.times[0] ?? 0)) / model.stepMs))
  const ends = texts.flatMap((text, order) => {
    const line = model.lines[order]!
    const at = newestPosition([line.values], 0, last)
    if (at < 0 || model.times[at]! < model.fromMs) return []
    const y = Math.max(top, Math.min(top + height, plot.valToPos(line.values[at]!, 'y', true)))
    return [{ text, line, y, x: plot.valToPos(model.times[at]!, 'x', true) }]
  })
  const heights = spreadLabels(ends, LABEL_DISTANCE_PX * unit, top + 4 * unit, top + height - 4 * unit)
  context.save()
  drawFlags(context, model.marks, palette, {
    x: (ms) => Math.round(plot.valToPos(ms, 'x', true)),
    left,
    width,
    top,
    height,
    unit,
  })
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  ends.forEach(({ text, line, y, x }, order) => {
    const { slot, marker } = line
    if (marker && slot) drawMarker(context, marker, x, y, unit, palette.slots[slot], palette.surface)
    context.font = `${slot ? 560 : 500} ${11 * unit}px "Inter Variable", ${TEXT_FONT}`
    context.fillStyle = slot ? palette.texts[slot] : palette.ink3
    context.fillText(fitted(context, text, (LABEL_MAX_PX - 12) * unit), left + width + 8 * unit, heights[order]!)
  })
  context.restore()
}

/** A text in the room that it has. Its end is kept: names of series begin alike and differ in what stands last. */
function fitted(context: CanvasRenderingContext2D, text: string, most: number): string {
  if (context.measureText(text).width <= most) return text
  let from = 1
  while (from < text.length - 1 && context.measureText(`…${text.slice(from)}`).width > most) from++
  return `…${text.slice(from).trimStart()}`
}
