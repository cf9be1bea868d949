import type { PlotModel } from './plot-model.ts'

/** Where marks around the lines are drawn, in canvas pixels; `unit` is canvas pixels a CSS pixel. */
export interface PlotBox {
  /** Positions of the first and the last sample that are shown. */
  readonly first: number
  readonly last: number
  readonly x: (ms: number) => number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly unit: number
}

/** Distance of a text from a line. Unit: CSS pixels. */
const MARGIN_PX = 9

/** Whether no line passes through the place of a text whose middle is at `y`. */
export function isFree(
  { times, stepMs, columns, fromMs, toMs, bottom, top }: PlotModel,
  box: PlotBox,
  place: { readonly fromX: number; readonly toX: number; readonly y: number },
): boolean {
  const margin = MARGIN_PX * box.unit
  const perUnit = box.height / (top - bottom || 1)
  const msPerPixel = (toMs - fromMs) / box.width
  const positionAt = (x: number): number => (fromMs + (x - box.left) * msPerPixel - (times[0] ?? 0)) / stepMs
  const from = Math.max(box.first, Math.floor(positionAt(place.fromX - margin)))
  const to = Math.min(box.last, Math.ceil(positionAt(place.toX + margin)))
  for (const values of columns) {
    let before = Number.NaN
    for (let i = from; i <= to; i++) {
      const above = place.y - (box.top + box.height - (values[i]! - bottom) * perUnit)
      // A line may also pass on its way from one sample to the next.
      if (Math.abs(above) < margin || above * before < 0) return false
      before = above
    }
  }
  return true
}
