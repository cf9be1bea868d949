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
  /** Boxes of existing texts. Each new text adds its box, so that no text overlaps another. */
  readonly texts: TextPlace[]
}

/** Where a text of one line stands, in canvas pixels; `y` is its middle. */
export interface TextPlace {
  readonly fromX: number
  readonly toX: number
  readonly y: number
}

/** Distance of a text from a line. Unit: CSS pixels. */
const MARGIN_PX = 9
/**
 * Smallest distance of the middles of two texts above each other, and of the ends of two texts beside each other. Unit:
 * CSS pixels.
 */
const LINE_PX = 15
const BESIDE_PX = 6

/** Whether no other text stands at a place. */
export function isFreeOfTexts({ texts, unit }: PlotBox, place: TextPlace): boolean {
  return texts.every(
    ({ fromX, toX, y }) =>
      Math.abs(y - place.y) >= LINE_PX * unit ||
      place.fromX >= toX + BESIDE_PX * unit ||
      place.toX <= fromX - BESIDE_PX * unit,
  )
}

/**
 * The first position for a text that covers neither a line nor a text; else the first that covers no text; undefined if
 * all cover a text.
 */
export function freePlace(model: PlotModel, box: PlotBox, places: readonly TextPlace[]): TextPlace | undefined {
  const unwritten = places.filter((place) => isFreeOfTexts(box, place))
  return unwritten.find((place) => isFree(model, box, place)) ?? unwritten[0]
}

/** Whether no line passes through the place of a text whose middle is at `y`. */
export function isFree(
  { times, stepMs, columns, fromMs, toMs, bottom, top }: PlotModel,
  box: PlotBox,
  place: TextPlace,
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
