import type { Palette } from '../components/palette.ts'
import { formatClock, formatDuration } from '../format/time.ts'
import { commonGaps, newestPosition, ownGaps } from './gaps.ts'
import { shapeOf } from './geometry.ts'
import { limitHeight } from './limit-marks.ts'
import { drawHatch } from './marks.ts'
import { isFree, isFreeOfTexts, type PlotBox, type TextPlace } from './plot-box.ts'
import type { PlotModel } from './plot-model.ts'

const TEXT_FONT = '"Inter Variable", system-ui, sans-serif'
/** Limit of lines with marked gaps. */
const MARKED_LIMIT_COUNT = 8
/** Heights at which a gap is named inside itself, the best first, as shares of the plot. */
const INSIDE_SHARES = [1 / 2, 2 / 3, 1 / 3, 5 / 6, 1 / 6]
/** Least distance of a gap's name from the line of a limit. Unit: CSS pixels. */
const LIMIT_PX = 11

/**
 * Series that start within this time after the first sample of all series count as starting together. Unit:
 * milliseconds.
 */
const START_MS = 5_000

/** Hatches gaps: the whole height if all lines lack samples, a coloured stripe if a single line does. */
export function drawGaps(context: CanvasRenderingContext2D, model: PlotModel, palette: Palette, box: PlotBox): void {
  const { first, last, x, top, height, unit } = box
  const start = model.times[0] ?? model.toMs
  const newest = newestPosition(model.columns, first, last)
  const back = stepBack(model, box)
  const gaps = commonGaps(model.columns, first, model.isLive ? newest : last).map(({ from, to }) => ({
    fromMs: start + (from - 1) * model.stepMs,
    toMs: start + (to + 1) * model.stepMs,
    // Where the line after it begins.
    endMs: start + (to + 1) * model.stepMs - (to < last ? back : 0),
    missing: to - from + 1,
  }))
  const leading = gaps[0] && gaps[0].fromMs < model.fromMs + model.stepMs ? gaps[0] : undefined
  if (newest < 0 || (start > model.fromMs + model.stepMs && !leading)) {
    const [toMs, endMs] = newest < 0 ? [model.toMs, model.toMs] : [start, start - back]
    gaps.unshift({ fromMs: model.fromMs, toMs, endMs, missing: 0 })
  }
  for (const gap of gaps) {
    const fromX = Math.max(box.left, x(gap.fromMs))
    const toX = Math.min(box.left + box.width, x(gap.endMs))
    const widthPx = Math.max(toX - fromX, unit)
    const isBeginning = fromX <= box.left + unit && newest >= 0
    // What is before the first sample of all is not missing.
    if (!(isBeginning && model.isGrowing))
      drawHatch(context, { x: fromX, y: top, width: widthPx, height }, palette.gap, unit)
    if (isBeginning && model.isGrowing && gap.toMs - model.fromMs <= START_MS) continue
    const text = isBeginning
      ? beginWords(gap.toMs, model)
      : newest < 0
        ? noSampleWords(model)
        : `no sample, ${formatDuration(gap.missing * model.stepMs)}`
    const others = gaps
      .filter((other) => other !== gap)
      .map((other) => ({ fromX: x(other.fromMs), toX: x(other.endMs) }))
    labelGap(context, model, text, { fromX, toX, others, ...box }, palette)
  }
  drawOwnGaps(context, model, palette, box)
}

/** How long before a sample its line begins: a sample that is drawn as a step is of all of that step. */
function stepBack({ stepMs }: PlotModel, { x }: PlotBox): number {
  return shapeOf({ perSample: x(stepMs) - x(0) }) === 'steps' ? stepMs : 0
}

/** Of long steps only whole ones have a sample, so that there may be some that is not drawn yet. */
function noSampleWords({ stepMs }: PlotModel): string {
  return stepMs <= 1_000 ? 'no sample' : `no sample in a whole step of ${formatDuration(stepMs)}`
}

/**
 * Until when a window has no sample. Only the step of the first sample is known: short steps give a second, longer
 * steps a range, so that every window shows the same text.
 */
export function beginWords(firstMs: number, { stepMs, zone }: Pick<PlotModel, 'stepMs' | 'zone'>): string {
  const detail = stepMs % 60_000 === 0 ? 'minutes' : 'seconds'
  const from = `no sample until ${formatClock(firstMs - stepMs, zone, detail)}`
  return stepMs <= 1_000 ? from : `${from} – ${formatClock(firstMs, zone, detail)}`
}

function drawOwnGaps(context: CanvasRenderingContext2D, model: PlotModel, palette: Palette, box: PlotBox): void {
  const { first, last, x, top, height, unit } = box
  const start = model.times[0] ?? model.toMs
  const perUnit = height / (model.top - model.bottom || 1)
  const back = stepBack(model, box)
  for (const line of model.lines.slice(0, MARKED_LIMIT_COUNT)) {
    if (line.slot === undefined) continue
    const foot = top + height - ((line.lane?.base ?? model.bottom) - model.bottom) * perUnit
    // A lane without any sample has a name that says so.
    if (line.lane && newestPosition([line.values], first, last) < 0) continue
    for (const run of ownGaps(line.values, model.columns, first, last)) {
      const fromX = x(start + (run.from - 1) * model.stepMs)
      const toX = x(start + (run.to + 1) * model.stepMs - (run.to < last ? back : 0))
      const stripe = { x: fromX, y: foot - 6 * unit, width: Math.max(toX - fromX, unit), height: 6 * unit }
      drawHatch(context, stripe, palette.slots[line.slot], unit)
    }
  }
}

/** From one place to another, in canvas pixels. */
interface Span {
  readonly fromX: number
  readonly toX: number
}

/** Names a gap where it fits: inside it, or beside it where no line passes. */
function labelGap(
  context: CanvasRenderingContext2D,
  model: PlotModel,
  text: string,
  box: PlotBox & Span & { readonly others: readonly Span[] },
  palette: Palette,
): void {
  const { unit, fromX, toX, others, left, width, top, height } = box
  context.font = `${11 * unit}px ${TEXT_FONT}`
  const textWidth = context.measureText(text).width
  const isInside = toX - fromX > textWidth + 16 * unit
  // Cells are beside it.
  if (!isInside && model.heat) return
  const at = isInside ? (fromX + toX - textWidth) / 2 : toX + 6 * unit
  if (!isInside && (at + textWidth > left + width || toX - fromX < 6 * unit)) return
  if (!isInside && others.some((other) => other.fromX < at + textWidth && other.toX > at)) return
  // A flag or an end would strike a text beside the gap through.
  const isStruck = model.marks.some(({ fromMs, toMs }) =>
    [fromMs, toMs].some((ms) => ms !== undefined && box.x(ms) > at && box.x(ms) < at + textWidth),
  )
  if (!isInside && isStruck) return
  const heights = isInside
    ? INSIDE_SHARES.map((share) => top + height * share)
    : [top + height - 12 * unit, top + 12 * unit, top + height / 2]
  const limits = model.limits.map((limit) => limitHeight(limit.at, model, box))
  const isUnlimited = (wanted: number): boolean => limits.every((line) => Math.abs(line - wanted) >= LIMIT_PX * unit)
  const places = heights.filter(isUnlimited).map((y): TextPlace => ({ fromX: at, toX: at + textWidth, y }))
  const place = places.find((wanted) => isFreeOfTexts(box, wanted) && (isInside || isFree(model, box, wanted)))
  if (!place) return
  box.texts.push(place)
  const { y } = place
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  if (isInside) {
    context.fillStyle = palette.surface
    context.fillRect(at - 4 * unit, y - 8 * unit, textWidth + 8 * unit, 16 * unit)
  }
  context.fillStyle = palette.ink3
  context.fillText(text, at, y)
}
