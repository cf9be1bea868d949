import type { Geometry } from '../components/trace.ts'
import { type Box, geometryOf } from './geometry.ts'
import type { PlotLine, PlotModel } from './plot-model.ts'

/** Where lines lie on the canvas of a plot. */
export interface LineBox extends Box {
  /** Canvas pixels a CSS pixel. */
  readonly unit: number
}

/** Lines as they are drawn. */
export interface DrawnLines {
  readonly model: PlotModel
  readonly lines: readonly PlotLine[]
  readonly box: LineBox
  readonly colour: string
}

/** Where the samples lie in a layer that covers the plotting area alone. */
export function linesGeometry({ model, box }: DrawnLines): Geometry {
  return geometryOf({ ...box, left: 0, top: 0 }, model)
}

/** Copies the lines, because later samples are written into the same memory. Reuses the arrays of `before`. */
export function kept({ model, lines, ...rest }: DrawnLines, before: DrawnLines | undefined): DrawnLines {
  return {
    ...rest,
    model: { ...model, times: model.times.slice(0, 1) },
    lines: lines.map((line, i) => ({ ...line, heights: copyOf(line.heights, before?.lines[i]?.heights) })),
  }
}

function copyOf(from: Float64Array, into: Float64Array | undefined): Float64Array {
  if (into?.length !== from.length) return from.slice()
  into.set(from)
  return into
}

/** How far a drawing moves to the left, and the first sample that was not drawn as it is now. */
export interface Moved {
  readonly byPx: number
  readonly fromSample: number
}

/** How one drawing becomes the next; undefined if they have too little in common. */
export function movedBy(before: DrawnLines, next: DrawnLines): Moved | undefined {
  if (!isAlike(before, next)) return undefined
  const { model, box } = next
  const byMs = model.fromMs - before.model.fromMs
  const px = (byMs / (model.toMs - model.fromMs)) * box.width
  const byPx = Math.round(px)
  if (byPx < 0 || byPx >= box.width || Math.abs(px - byPx) > 0.01) return undefined
  const { times, stepMs } = model
  const byStart = ((times[0] ?? 0) - (before.model.times[0] ?? 0)) / stepMs
  const bySamples = Math.round(byStart)
  if (bySamples < 0 || Math.abs(byStart - bySamples) > 0.01) return undefined
  // What went out of the grid must be out of the window too.
  if (bySamples > 0 && linesGeometry(next).left > 1) return undefined
  return { byPx, fromSample: firstChange(before.lines, next.lines, bySamples) }
}

function isAlike(before: DrawnLines, next: DrawnLines): boolean {
  const [a, b] = [before.model, next.model]
  return (
    before.colour === next.colour &&
    a.bottom === b.bottom &&
    a.top === b.top &&
    a.stepMs === b.stepMs &&
    Math.abs(b.toMs - b.fromMs - (a.toMs - a.fromMs)) < 0.001 &&
    before.box.width === next.box.width &&
    before.box.height === next.box.height &&
    before.lines.length === next.lines.length &&
    next.lines.every(({ key, widthPx }, i) => key === before.lines[i]!.key && widthPx === before.lines[i]!.widthPx)
  )
}

/** The first sample that is new or changed in any line; old samples are `shift` positions later. */
function firstChange(before: readonly PlotLine[], next: readonly PlotLine[], shift: number): number {
  let first = next[0]?.heights.length ?? 0
  next.forEach(({ heights }, line) => {
    const old = before[line]!.heights
    const known = Math.min(first, old.length - shift)
    let at = 0
    while (at < known && isSame(heights[at]!, old[at + shift]!)) at++
    first = Math.min(first, at)
  })
  return Math.max(0, first)
}

function isSame(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b))
}
