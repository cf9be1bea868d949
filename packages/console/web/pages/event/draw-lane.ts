import type { EventLane, EventMark } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import { drawHatch } from '../../chart/marks.ts'
import type { Palette, SeriesSlot } from '../../components/palette.ts'
import { formatDuration } from '../../format/time.ts'
import { drawEnvelope } from './draw-envelope.ts'
import { type LaneScale, pointsWithin } from './lane-scale.ts'
import type { Onset } from './onset.ts'
import { lengthOf, type Span } from './view-span.ts'

/** Where a lane is drawn, in canvas pixels; `unit` is canvas pixels a CSS pixel. */
export interface LaneBox {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly unit: number
}

/** Everything that a lane shows. */
export interface LaneDrawing {
  readonly lane: EventLane
  readonly samples: LaneSamples | undefined
  readonly view: Span
  readonly scale: LaneScale
  readonly slot: SeriesSlot
  /** Marks of the event and of other events in its window. */
  readonly marks: readonly EventMark[]
  readonly event: number
  /** The span in which the event was open. */
  readonly held: Span
  readonly onset: Onset | undefined
}

const TEXT_FONT = '"Inter Variable", system-ui, sans-serif'
/** Minimum widths of a sample for a step and for a point. Unit: CSS pixels. */
const STEP_PX = 4
const POINT_PX = 12
/** Samples further apart than this multiple of the resolution are not joined, even without a listed gap. */
const APART_COUNT = 3
const ONSET_PX = 3
const LINE_PX = 1.3

/** Draws one lane. */
export function drawLane(
  context: CanvasRenderingContext2D,
  drawing: LaneDrawing,
  box: LaneBox,
  palette: Palette,
): void {
  const { view, scale, samples } = drawing
  const perMs = box.width / lengthOf(view)
  const x = (ms: number): number => box.left + (ms - view.fromMs) * perMs
  const y = (value: number): number =>
    box.top + box.height * (1 - (value - scale.bottom) / (scale.top - scale.bottom || 1))
  context.save()
  context.beginPath()
  context.rect(box.left, 0, box.width, context.canvas.height)
  context.clip()
  drawHeld(context, drawing, x, palette)
  drawGrid(context, box, palette)
  drawLaneGaps(context, drawing, box, x, palette)
  if (samples && samples.times.length > 0) {
    drawEnvelope(context, drawing, samples, { ...box, x, y }, palette.slots[drawing.slot])
    drawLine(context, drawing, samples, { ...box, x, y, perMs }, palette)
  }
  drawMarks(context, drawing, box, x, palette)
  drawOnset(context, drawing, box, x, palette)
  context.restore()
  drawTexts(context, scale, box, palette)
}

function drawHeld(
  context: CanvasRenderingContext2D,
  { held, marks, event }: LaneDrawing,
  x: (ms: number) => number,
  palette: Palette,
): void {
  const height = context.canvas.height
  context.fillStyle = palette.eventTint
  context.fillRect(x(held.fromMs), 0, x(held.toMs) - x(held.fromMs), height)
  // The band shows the clock error of the mark. The true time is somewhere in it.
  for (const { atMs, errorMs, event: of } of marks) {
    if (of === event) context.fillRect(x(atMs - errorMs), 0, x(atMs + errorMs) - x(atMs - errorMs), height)
  }
}

function drawGrid(context: CanvasRenderingContext2D, box: LaneBox, palette: Palette): void {
  context.strokeStyle = palette.grid
  context.lineWidth = box.unit
  context.beginPath()
  for (const share of [0, 1 / 2, 1]) {
    const at = Math.round(box.top + box.height * share) + box.unit / 2
    context.moveTo(box.left, at)
    context.lineTo(box.left + box.width, at)
  }
  context.stroke()
}

function drawLaneGaps(
  context: CanvasRenderingContext2D,
  { lane, view }: LaneDrawing,
  box: LaneBox,
  x: (ms: number) => number,
  palette: Palette,
): void {
  for (const gap of lane.gaps) {
    if (gap.toMs < view.fromMs || gap.fromMs > view.toMs) continue
    const fromX = Math.max(box.left, x(gap.fromMs))
    const toX = Math.min(box.left + box.width, x(gap.toMs))
    const width = Math.max(toX - fromX, box.unit)
    drawHatch(context, { x: fromX, y: box.top, width, height: box.height }, palette.gap, box.unit)
    const text = `no sample, ${formatDuration(gap.toMs - gap.fromMs)}`
    context.font = `${10 * box.unit}px ${TEXT_FONT}`
    const textWidth = context.measureText(text).width
    if (width < textWidth + 16 * box.unit) continue
    const middle = (fromX + toX) / 2
    const height = 14 * box.unit
    context.fillStyle = palette.surface
    context.fillRect(
      middle - textWidth / 2 - 4 * box.unit,
      box.top + (box.height - height) / 2,
      textWidth + 8 * box.unit,
      height,
    )
    context.fillStyle = palette.ink3
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillText(text, middle, box.top + box.height / 2)
  }
}

interface Places extends LaneBox {
  readonly x: (ms: number) => number
  readonly y: (value: number) => number
  readonly perMs: number
}

function drawLine(
  context: CanvasRenderingContext2D,
  drawing: LaneDrawing,
  samples: LaneSamples,
  places: Places,
  palette: Palette,
): void {
  const { lane, view, slot } = drawing
  const { x, y, unit, perMs } = places
  const { times, lows, isExact } = samples
  const { first, last } = pointsWithin(samples, view.fromMs, view.toMs)
  const stepPx = (lane.resolutionMs * perMs) / unit
  context.fillStyle = palette.slots[slot]
  context.strokeStyle = palette.slots[slot]
  context.lineWidth = LINE_PX * unit
  context.lineJoin = 'bevel'
  context.beginPath()
  if (!isExact) {
    traceStretches(context, samples, places, first, last)
    context.fill()
  } else {
    if (stepPx >= STEP_PX) traceSteps(context, drawing, samples, places, first, last)
    else tracePoints(context, drawing, samples, places, first, last)
    context.stroke()
  }
  if (!isExact || stepPx < POINT_PX) return
  context.beginPath()
  for (let at = first; at <= last; at++) {
    if (Number.isNaN(lows[at]!)) continue
    context.moveTo(x(times[at]!) + 2.2 * unit, y(lows[at]!))
    context.arc(x(times[at]!), y(lows[at]!), 2.2 * unit, 0, Math.PI * 2)
  }
  context.fill()
}

/** Draws each sample as a step over the time since the previous sample. */
function traceSteps(
  context: CanvasRenderingContext2D,
  { lane }: LaneDrawing,
  { times, lows }: LaneSamples,
  { x, y }: Places,
  first: number,
  last: number,
): void {
  let isJoined = false
  for (let at = first; at <= last; at++) {
    if (Number.isNaN(lows[at]!)) {
      isJoined = false
      continue
    }
    const timeMs = times[at]!
    const beforeMs = at > 0 ? times[at - 1]! : Number.NEGATIVE_INFINITY
    const isNext = isJoined && isContinuous(lane, beforeMs, timeMs)
    const fromMs = isNext ? beforeMs : Math.max(timeMs - lane.resolutionMs, beforeMs)
    if (isNext) context.lineTo(x(fromMs), y(lows[at]!))
    else context.moveTo(x(fromMs), y(lows[at]!))
    context.lineTo(x(timeMs), y(lows[at]!))
    isJoined = true
  }
}

/** Joins samples that are only a few pixels apart. */
function tracePoints(
  context: CanvasRenderingContext2D,
  { lane }: LaneDrawing,
  { times, lows }: LaneSamples,
  { x, y }: Places,
  first: number,
  last: number,
): void {
  for (let at = first; at <= last; at++) {
    if (Number.isNaN(lows[at]!)) continue
    const isNext = at > first && !Number.isNaN(lows[at - 1]!) && isContinuous(lane, times[at - 1]!, times[at]!)
    if (isNext) context.lineTo(x(times[at]!), y(lows[at]!))
    else context.moveTo(x(times[at]!), y(lows[at]!))
  }
}

/**
 * Draws a bar per time span from its least to its greatest value, extended to touch the previous bar. Filled bars cost
 * a fraction of a line with as many corners.
 */
function traceStretches(
  context: CanvasRenderingContext2D,
  { times, lows, highs }: LaneSamples,
  { x, y, unit }: Places,
  first: number,
  last: number,
): void {
  for (let at = first; at <= last; at++) {
    let low = lows[at]!
    let high = highs[at]!
    if (Number.isNaN(low)) continue
    if (at > 0 && highs[at - 1]! < low) low = highs[at - 1]!
    if (at > 0 && lows[at - 1]! > high) high = lows[at - 1]!
    const from = x(times[at]!)
    const width = Math.max(LINE_PX * unit, at + 1 < times.length ? x(times[at + 1]!) - from : 0)
    const top = y(high) - (LINE_PX / 2) * unit
    context.rect(from, top, width, y(low) + (LINE_PX / 2) * unit - top)
  }
}

function isContinuous(lane: EventLane, fromMs: number, toMs: number): boolean {
  return toMs - fromMs <= lane.resolutionMs * APART_COUNT && !hasGap(lane, fromMs, toMs)
}

function hasGap({ gaps }: EventLane, fromMs: number, toMs: number): boolean {
  return gaps.some((gap) => gap.fromMs < toMs && gap.toMs > fromMs && gap.fromMs >= fromMs)
}

function drawMarks(
  context: CanvasRenderingContext2D,
  { marks, event }: LaneDrawing,
  { unit }: LaneBox,
  x: (ms: number) => number,
  palette: Palette,
): void {
  for (const mark of marks) {
    const isOwn = mark.event === event
    context.strokeStyle = isOwn ? palette.critical : palette.ink3
    context.lineWidth = (isOwn ? 1.3 : 1) * unit
    context.setLineDash(mark.isStart ? [] : [3 * unit, 3 * unit])
    context.beginPath()
    context.moveTo(x(mark.atMs), 0)
    context.lineTo(x(mark.atMs), context.canvas.height)
    context.stroke()
  }
  context.setLineDash([])
}

/** Marks the span of the first change at the foot of the lane. */
function drawOnset(
  context: CanvasRenderingContext2D,
  { onset, slot }: LaneDrawing,
  { top, height, unit }: LaneBox,
  x: (ms: number) => number,
  palette: Palette,
): void {
  if (!onset) return
  const from = x(onset.earliestMs)
  const width = Math.max(x(onset.latestMs) - from, ONSET_PX * unit)
  context.fillStyle = palette.slots[slot]
  context.fillRect(from, top + height + unit, width, ONSET_PX * unit)
}

function drawTexts(context: CanvasRenderingContext2D, scale: LaneScale, box: LaneBox, palette: Palette): void {
  context.font = `${10 * box.unit}px ${TEXT_FONT}`
  context.fillStyle = palette.ink3
  context.textAlign = 'right'
  const at = box.left - 6 * box.unit
  context.textBaseline = 'top'
  context.fillText(scale.topText, at, Math.max(0, box.top - 3 * box.unit))
  context.textBaseline = 'bottom'
  context.fillText(scale.bottomText, at, box.top + box.height + 3 * box.unit)
}
