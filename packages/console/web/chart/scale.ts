/** Tops of an axis whose half is as easy to read. */
const NICE = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]
/** A top is kept while the largest value fills at least this share of it. */
const KEEP_SHARE = 0.35
/** Room above the largest value. */
const HEADROOM = 1.04

/**
 * The top of an axis that starts at 0, in raw units, so that top and middle are round in the unit that is shown.
 *
 * `divisor` turns raw values into that unit. A `previous` top stays while it still fits, so that a live axis does not
 * jump.
 */
export function niceTop(largestRaw: number, divisor: number, previous?: number): number {
  if (!(largestRaw > 0)) return previous ?? divisor
  if (previous !== undefined && largestRaw <= previous && largestRaw > previous * KEEP_SHARE) return previous
  const wanted = (largestRaw * HEADROOM) / divisor
  const decade = 10 ** Math.floor(Math.log10(wanted))
  const step = NICE.find((candidate) => candidate * decade >= wanted * (1 - 1e-12)) ?? 10
  return step * decade * divisor
}

/** Largest of some columns between two positions; -Infinity where there is no value. */
export function largestValue(columns: readonly Float64Array[], from: number, to: number): number {
  let largest = Number.NEGATIVE_INFINITY
  for (const values of columns) {
    for (let i = from; i <= to; i++) if (values[i]! > largest) largest = values[i]!
  }
  return largest
}

/** Smallest of some columns between two positions; Infinity where there is no value. */
export function smallestOf(columns: readonly Float64Array[], from: number, to: number): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const values of columns) {
    for (let i = from; i <= to; i++) if (values[i]! < smallest) smallest = values[i]!
  }
  return smallest
}

const TICK_STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
]

/** Distance of the time labels: at most `most` of them over a span, on round times. */
export function timeStep(spanMs: number, most: number): number {
  return TICK_STEPS_MS.find((step) => spanMs / step <= most) ?? TICK_STEPS_MS.at(-1)!
}

/**
 * Room that a label of the time axis takes with its distance to the next, by the shortest step that needs so many
 * digits.
 */
const LABEL_WIDTHS: readonly (readonly [belowMs: number, widthPx: number])[] = [
  [Number.POSITIVE_INFINITY, 42],
  [60_000, 66],
  [1_000, 90],
]

/**
 * Distance of the time labels over a span that is `widthPx` wide: labels with seconds are wider, so there are fewer of
 * them.
 */
export function labelStep(spanMs: number, widthPx: number): number {
  let stepMs = 0
  for (const [belowMs, labelPx] of LABEL_WIDTHS) {
    if (stepMs < belowMs) stepMs = timeStep(spanMs, Math.min(8, Math.max(2, Math.floor(widthPx / labelPx))))
  }
  return stepMs
}

/** Ticks between the labels of a step, such as half minutes; undefined if the labels are enough. */
export function minorStep(stepMs: number): number | undefined {
  return MINOR_STEPS_MS[stepMs]
}

const MINOR_STEPS_MS: Readonly<Record<number, number>> = {
  60000: 30_000,
  120000: 30_000,
  10800000: 3_600_000,
  21600000: 3_600_000,
}

/** Round times inside a span. `zoneOffsetMs` makes steps of hours and days round in that zone. */
export function timeTicks(fromMs: number, toMs: number, stepMs: number, zoneOffsetMs = 0): number[] {
  const ticks: number[] = []
  const first = Math.ceil((fromMs + zoneOffsetMs) / stepMs) * stepMs - zoneOffsetMs
  for (let at = first; at <= toMs; at += stepMs) ticks.push(at)
  return ticks
}

/** Moves a live span in whole pixels, so that what was drawn before stays sharp and in its place. */
export function snapSpan(
  span: { readonly fromMs: number; readonly toMs: number },
  widthPx: number,
): { readonly fromMs: number; readonly toMs: number } {
  const lengthMs = span.toMs - span.fromMs
  const perPixelMs = lengthMs / Math.max(1, widthPx)
  const toMs = Math.ceil(span.toMs / perPixelMs) * perPixelMs
  return { fromMs: toMs - lengthMs, toMs }
}
