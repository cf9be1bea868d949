import type { Palette } from '../components/palette.ts'
import type { ChartMark } from './chart-spec.ts'

/** Flags that are nearer to each other than this become one, with a count. Unit: CSS pixels. */
const MERGE_PX = 24

/** One flag, and how many marks begin at it. */
export interface Flag {
  readonly x: number
  readonly count: number
}

/** The flags of marks at some places, those that would touch made one; all in the unit of `distance`. */
export function flagsAt(places: readonly number[], distance: number): Flag[] {
  const flags: Flag[] = []
  for (const x of [...places].sort((a, b) => a - b)) {
    const before = flags.at(-1)
    if (before && x - before.x < distance) flags[flags.length - 1] = { ...before, count: before.count + 1 }
    else flags.push({ x, count: 1 })
  }
  return flags
}

/** Tints the spans in which something held: under the lines. */
export function drawTints(
  context: CanvasRenderingContext2D,
  marks: readonly ChartMark[],
  palette: Palette,
  box: { readonly x: (ms: number) => number; readonly top: number; readonly height: number; readonly toMs: number },
): void {
  context.fillStyle = palette.eventTint
  // Overlapping spans are one area, so that two events at the same time are no darker than one.
  const path = new Path2D()
  let until = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs = box.toMs } of [...marks].sort((a, b) => a.fromMs - b.fromMs)) {
    const from = Math.max(until, box.x(fromMs))
    const to = box.x(toMs)
    if (to > from) path.rect(from, box.top, to - from, box.height)
    until = Math.max(until, to)
  }
  context.fill(path)
}

/** Draws a flag and a thin line where something began, a dashed line where it ended: over the lines. */
export function drawFlags(
  context: CanvasRenderingContext2D,
  marks: readonly ChartMark[],
  palette: Palette,
  box: {
    readonly x: (ms: number) => number
    readonly left: number
    readonly width: number
    readonly top: number
    readonly height: number
    readonly unit: number
  },
): void {
  const { left, width, top, height, unit } = box
  const isInside = (x: number): boolean => x >= left && x <= left + width
  const begins = marks.map(({ fromMs }) => box.x(fromMs)).filter(isInside)
  const ends = marks.flatMap(({ toMs }) => (toMs === undefined ? [] : [box.x(toMs)])).filter(isInside)
  context.strokeStyle = palette.critical
  context.fillStyle = palette.critical
  context.lineWidth = 1.3 * unit
  for (const [places, dash] of [
    [begins, []],
    [ends, [3 * unit, 3 * unit]],
  ] as const) {
    context.setLineDash([...dash])
    context.beginPath()
    for (const x of places) {
      context.moveTo(x, top - 3 * unit)
      context.lineTo(x, top + height)
    }
    context.stroke()
  }
  context.setLineDash([])
  context.font = `600 ${10 * unit}px "Inter Variable", system-ui, sans-serif`
  context.textBaseline = 'middle'
  context.textAlign = 'right'
  for (const { x, count } of flagsAt(begins, MERGE_PX * unit)) {
    context.beginPath()
    context.moveTo(x - 0.6 * unit, top - 7 * unit)
    context.lineTo(x + 7 * unit, top - 3.5 * unit)
    context.lineTo(x - 0.6 * unit, top)
    context.fill()
    if (count > 1) context.fillText(String(count), x - 3 * unit, top - 2.5 * unit)
  }
}
