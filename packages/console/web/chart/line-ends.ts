import type uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { spreadLabels } from './end-labels.ts'
import { drawFlags } from './event-marks.ts'
import { newestPosition } from './gaps.ts'
import { drawMarker } from './marks.ts'
import type { HeatScale, PlotLine, PlotModel } from './plot-model.ts'

const TEXT_FONT = '"Inter Variable", system-ui, sans-serif'
const ROOM_MIN_PX = 14
/** Most room for names: that of a small plot, and of one that is at least so wide. */
const ROOM_MAX_PX = 104
const ROOM_MAX_WIDE_PX = 220
const WIDE_PX = 720
/** Between the plot and a name, and behind it. */
const BESIDE_PX = 14
const LABEL_DISTANCE_PX = 13
/** Of a name above the foot of its lane, and of the note below the name. */
const NAME_PX = 17
const NOTE_PX = 13
/** Least room between a name and the note behind it; twice that where there is room. */
const NOTE_GAP_PX = 3
/** A lane that is lower has its name and its note on one line. */
const TWO_LINES_MIN_PX = 26
/** More lines than this are told apart in the header and the table, not at the right end. */
const LABELLED_LIMIT_COUNT = 8
/** Notes change every second; their room does not. */
const WIDEST_NOTE = '00 min 00 s'

const widths = new Map<string, number>()
const WIDTHS_LIMIT_COUNT = 2_000
let measuring: CanvasRenderingContext2D | null = null

/** Room that some names at the right end need, if there is as much. Unit: CSS pixels. */
export function roomFor(texts: readonly string[]): number {
  if (texts.length === 0) return ROOM_MIN_PX
  return Math.ceil(Math.max(...texts.map(widthOf))) + BESIDE_PX
}

/** Most room that the names of a plot take. Unit: CSS pixels. */
function mostRoom(plotPx: number): number {
  return plotPx >= WIDE_PX ? ROOM_MAX_WIDE_PX : ROOM_MAX_PX
}

function widthOf(text: string): number {
  const known = widths.get(text)
  if (known !== undefined) return known
  measuring ??= document.createElement('canvas').getContext('2d')
  if (!measuring) return ROOM_MAX_PX
  measuring.font = `560 11px ${TEXT_FONT}`
  const { width } = measuring.measureText(text)
  if (widths.size >= WIDTHS_LIMIT_COUNT) widths.clear()
  // Before the font is there another one is measured.
  if (document.fonts.status === 'loaded') widths.set(text, width)
  return width
}

/** Space at the right end of a plot: enough for its names, and at least that of its neighbours. Unit: CSS pixels. */
export function endRoom({ lines, bandLabel, endPx, heat }: PlotModel, plotPx: number): number {
  if (heat) return Math.min(mostRoom(plotPx), Math.max(endPx, roomFor(heat.edges)))
  const notes = lines.some(({ lane }) => lane) ? [WIDEST_NOTE] : []
  return Math.min(mostRoom(plotPx), Math.max(endPx, roomFor([...endTexts(lines, bandLabel), ...notes])))
}

function endTexts(lines: readonly PlotLine[], bandLabel: string | undefined): string[] {
  if (lines.length > LABELLED_LIMIT_COUNT) return []
  return lines.map((line) => (line.slot === undefined && bandLabel ? bandLabel : line.label))
}

/** Draws flags over the lines, and markers and names at their right end. */
export function drawEnds(plot: uPlot, model: PlotModel, palette: Palette): void {
  const context = plot.ctx
  const unit = devicePixelRatio
  const { left, top, width, height } = plot.bbox
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
  if (model.heat) drawEdgeNames(plot, model.heat, model.top, palette, unit)
  else if (model.lines.some(({ lane }) => lane)) drawLaneNames(plot, model, palette, unit)
  else drawLineNames(plot, model, palette, unit)
  context.restore()
}

/** Names beside the ends of the lines, moved apart where they would touch. */
function drawLineNames(plot: uPlot, model: PlotModel, palette: Palette, unit: number): void {
  const context = plot.ctx
  const { left, top, width, height } = plot.bbox
  const last = Math.min(model.times.length - 1, Math.floor((model.toMs - (model.times[0] ?? 0)) / model.stepMs))
  const ends = endTexts(model.lines, model.bandLabel).flatMap((text, order) => {
    const line = model.lines[order]!
    const at = newestPosition([line.heights], 0, last)
    if (at < 0 || model.times[at]! < model.fromMs) return []
    const y = Math.max(top, Math.min(top + height, plot.valToPos(line.heights[at]!, 'y', true)))
    return [{ text, line, y, x: plot.valToPos(model.times[at]!, 'x', true) }]
  })
  const heights = spreadLabels(ends, LABEL_DISTANCE_PX * unit, top + 4 * unit, top + height - 4 * unit)
  const mostPx = mostRoom(plot.width) - BESIDE_PX + 2
  ends.forEach(({ text, line, y, x }, order) => {
    const { slot, marker } = line
    if (marker && slot) drawMarker(context, marker, x, y, unit, palette.slots[slot], palette.surface)
    context.font = `${slot ? 560 : 500} ${11 * unit}px ${TEXT_FONT}`
    context.fillStyle = slot ? palette.texts[slot] : palette.ink3
    context.fillText(fitted(context, text, mostPx * unit), left + width + 8 * unit, heights[order]!)
  })
}

/** The edges between bins, as many as have room. */
function drawEdgeNames(plot: uPlot, { edges }: HeatScale, bins: number, palette: Palette, unit: number): void {
  const context = plot.ctx
  const { left, top, width, height } = plot.bbox
  const binHeight = height / bins
  const stride = Math.max(1, Math.ceil((LABEL_DISTANCE_PX * unit) / binHeight))
  context.font = `400 ${11 * unit}px ${TEXT_FONT}`
  context.fillStyle = palette.ink3
  context.strokeStyle = palette.line
  context.lineWidth = unit
  for (const [place, name] of edges.entries()) {
    if (place % stride !== 0) continue
    const y = Math.round(top + height - (place + 1) * binHeight)
    context.beginPath()
    context.moveTo(left + width, y + unit / 2)
    context.lineTo(left + width + 4 * unit, y + unit / 2)
    context.stroke()
    context.fillText(name, left + width + 8 * unit, y)
  }
}

/** The name of each lane beside it, and its note below or behind. */
function drawLaneNames(plot: uPlot, model: PlotModel, palette: Palette, unit: number): void {
  const context = plot.ctx
  const { left, top, width, height } = plot.bbox
  const lanePx = height / unit / (model.top - model.bottom)
  const isOneLine = lanePx < TWO_LINES_MIN_PX
  const x = left + width + 8 * unit
  for (const { label, lane } of model.lines) {
    if (!lane) continue
    const foot = top + height - (lane.base - model.bottom) * lanePx * unit
    const y = foot - (isOneLine ? lanePx * 0.36 : NAME_PX) * unit
    context.font = `500 ${11 * unit}px ${TEXT_FONT}`
    context.fillStyle = palette.ink2
    const name = fitted(context, label, (mostRoom(plot.width) - BESIDE_PX + 2) * unit)
    context.fillText(name, x, y)
    const nameWidth = isOneLine ? context.measureText(name).width : 0
    const gap = isOneLine ? NOTE_GAP_PX * unit : 0
    context.fillStyle = palette.ink3
    context.font = `400 ${10 * unit}px ${TEXT_FONT}`
    const noteX = Math.min(x + nameWidth + 2 * gap, context.canvas.width - context.measureText(lane.note).width)
    // A number that is cut would be another number.
    if (noteX < x + nameWidth + gap) continue
    context.fillText(lane.note, noteX, isOneLine ? y : y + NOTE_PX * unit)
  }
}

/** Shortens a text to its space. Keeps the end, because names of series often differ only there. */
function fitted(context: CanvasRenderingContext2D, text: string, most: number): string {
  if (context.measureText(text).width <= most) return text
  let from = 1
  while (from < text.length - 1 && context.measureText(`…${text.slice(from)}`).width > most) from++
  return `…${text.slice(from).trimStart()}`
}
