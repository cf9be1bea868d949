import type { Value } from './exact.ts'

const WRAP = 2 ** 32
/** A counter of 32 bits that is above this and falls below the other has wrapped. */
const WRAP_ABOVE = 3 * 2 ** 30
const WRAP_BELOW = 2 ** 30

/** A sample of a device. */
export interface ModelSample {
  /** Follows on that of the sample before where none is missing. */
  readonly number: number
  /** Above that of the sample before. Unit: nanoseconds. */
  readonly timeNs: bigint
  /** A value a signal; undefined if the sample has none. */
  readonly values: readonly (Value | undefined)[]
}

/** A value of a signal, with its history. */
export interface Point {
  readonly timeNs: bigint
  readonly raw: Value
  /** The value for differences: 2^32 more for each wrap so far. */
  readonly lifted: Value
  /** Position of the first sample of the run. */
  readonly runStart: number
  /** Position of the first sample of the run that a window may reach back to. */
  readonly windowStart: number
  /** The counter fell, and did not wrap. */
  readonly isReset: boolean
  /** It fell from the last quarter of 32 bits to the first. */
  readonly isWrap: boolean
}

/** The points of a signal, one a sample; undefined if the sample has no value. */
export function pointsOf(
  samples: readonly ModelSample[],
  signal: number,
  { isCounter }: { readonly isCounter: boolean },
): (Point | undefined)[] {
  const points: (Point | undefined)[] = []
  let last: Point | undefined
  let wraps = 0
  for (const [position, sample] of samples.entries()) {
    const raw = sample.values[signal]
    if (raw === undefined) {
      points.push(undefined)
      continue
    }
    const before = position === 0 ? undefined : points[position - 1]
    const isRunStart = before === undefined || samples[position - 1]?.number !== sample.number - 1
    const hasFallen = isCounter && last !== undefined && raw < last.raw
    const hasWrapped = hasFallen && last !== undefined && isWrap(last.raw, raw)
    if (hasWrapped) wraps += 1
    const isReset = hasFallen && !hasWrapped
    const runStart = isRunStart ? position : (before as Point).runStart
    const windowStart = isRunStart || isReset ? position : (before as Point).windowStart
    last = { timeNs: sample.timeNs, raw, lifted: lift(raw, wraps), runStart, windowStart, isReset, isWrap: hasWrapped }
    points.push(last)
  }
  return points
}

/** A number with a fraction has no 32 bits. */
function isWrap(before: Value, value: Value): boolean {
  if (typeof before === 'number') return false
  return before >= WRAP_ABOVE && before < WRAP && value < WRAP_BELOW
}

function lift(value: Value, wraps: number): Value {
  return typeof value === 'bigint' ? value + BigInt(wraps * WRAP) : value
}
