import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import type { Span } from './view-span.ts'

/** When a signal left its usual range, and how exactly that is known. */
export interface Onset {
  /** The change lies between these times. Unit: milliseconds since the epoch. */
  readonly earliestMs: number
  readonly latestMs: number
  readonly isRise: boolean
  /** The level before, and the first value outside of it. */
  readonly before: number
  readonly after: number
}

/** The usual range before an event; undefined if there are too few samples. */
export interface Usual {
  readonly low: number
  readonly high: number
  readonly middle: number
  /** Number of points behind the range. */
  readonly count: number
}

/** Share of the time before the event that defines the usual range. The later part may already contain the cause. */
const BASE_SHARE = 1 / 2
const BASE_MIN_COUNT = 2
/**
 * Fewest samples for a moving signal. Two or three samples may be close by chance, and the next value is then far from
 * both.
 */
const MOVING_MIN_COUNT = 4
/**
 * Tolerance around the usual range, as shares of its width and of its level. It is larger if the range comes from few
 * samples.
 */
const ROOM = { width: 0.25, level: 0.05 }
const ROOM_OF_FEW = { width: 2, level: 0.1 }
const FEW_COUNT = 20
/** Consecutive samples that must leave the usual range. A constant signal with few samples needs a single sample. */
const RUN_COUNT = 2
const COARSE_COUNT = 40

/** The span before an event that defines the usual range. */
export function baseSpan(window: Span, startMs: number): Span {
  return { fromMs: window.fromMs, toMs: window.fromMs + (startMs - window.fromMs) * BASE_SHARE }
}

/** The usual range over a span, from the extremes of its points. */
export function usualOf({ times, lows, highs, isExact }: LaneSamples, base: Span): Usual | undefined {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  const middles: number[] = []
  for (let at = 0; at < times.length; at++) {
    if (times[at]! < base.fromMs || times[at]! > base.toMs || Number.isNaN(lows[at]!)) continue
    low = Math.min(low, lows[at]!)
    high = Math.max(high, highs[at]!)
    middles.push((lows[at]! + highs[at]!) / 2)
  }
  const isMoving = isExact && low !== high
  if (middles.length < (isMoving ? MOVING_MIN_COUNT : BASE_MIN_COUNT)) return undefined
  middles.sort((a, b) => a - b)
  return { low, high, middle: middles[middles.length >> 1]!, count: middles.length }
}

/**
 * The first point after the base from which a signal stays outside of its usual range; undefined if there is none.
 *
 * A signal that already swings widely before the event must swing further to count as changed.
 */
export function onsetOf(samples: LaneSamples, lane: EventLane, base: Span, usual: Usual): Onset | undefined {
  const { times, lows, highs } = samples
  const shares = usual.count < FEW_COUNT ? ROOM_OF_FEW : ROOM
  const widest = Math.max((usual.high - usual.low) * shares.width, Math.abs(usual.middle) * shares.level)
  const room = Math.max(widest, Number.MIN_VALUE)
  const floor = usual.low - room
  const ceiling = usual.high + room
  // A point of several samples holds their extremes, so a single point is enough.
  const isFew = times.length <= COARSE_COUNT && usual.low === usual.high
  const needed = !samples.isExact || isFew ? 1 : RUN_COUNT
  let run = 0
  let first = -1
  let isRise = false
  let usualAt = -1
  for (let at = 0; at < times.length; at++) {
    if (Number.isNaN(lows[at]!)) continue
    if (times[at]! <= base.toMs) {
      usualAt = at
      continue
    }
    const isAbove = highs[at]! > ceiling
    if (!isAbove && lows[at]! >= floor) {
      run = 0
      usualAt = at
      continue
    }
    if (run === 0 || isAbove !== isRise) {
      run = 0
      first = at
      isRise = isAbove
    }
    if (++run < needed && at < times.length - 1) continue
    return onsetAt(samples, lane, { at: first, usualAt, isRise }, usual.middle)
  }
  return undefined
}

function onsetAt(
  { times, lows, highs, isExact }: LaneSamples,
  { resolutionMs, errorMs }: EventLane,
  { at, usualAt, isRise }: { readonly at: number; readonly usualAt: number; readonly isRise: boolean },
  before: number,
): Onset {
  const timeMs = times[at]!
  // The change lies after the last usual sample and within the time that the first unusual sample covers.
  const sinceMs = usualAt >= 0 ? times[usualAt]! : timeMs
  const untilMs = isExact ? timeMs : (times[at + 1] ?? timeMs)
  return {
    earliestMs: Math.min(sinceMs, isExact ? timeMs - resolutionMs : timeMs) - errorMs,
    latestMs: untilMs + errorMs,
    isRise,
    before,
    after: isRise ? highs[at]! : lows[at]!,
  }
}

/** The middle of the span of a change. */
export function onsetMiddleMs({ earliestMs, latestMs }: Pick<Onset, 'earliestMs' | 'latestMs'>): number {
  return (earliestMs + latestMs) / 2
}

/** The greatest error of the middle. */
export function uncertaintyOf({ earliestMs, latestMs }: Pick<Onset, 'earliestMs' | 'latestMs'>): number {
  return (latestMs - earliestMs) / 2
}
