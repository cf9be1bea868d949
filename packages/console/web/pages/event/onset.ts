import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import type { Span } from './view-span.ts'

/** When a signal left what it was before, and how well that is known. */
export interface Onset {
  /** The change lies between these times. Unit: milliseconds since the epoch. */
  readonly earliestMs: number
  readonly latestMs: number
  readonly isRise: boolean
  /** The level before, and the first value that leaves it. */
  readonly before: number
  readonly after: number
}

/** What is usual before an event; undefined if there are too few samples to say. */
export interface Usual {
  readonly low: number
  readonly high: number
  readonly middle: number
  /** Points that it is made of. */
  readonly count: number
}

/**
 * Samples before the event of which the usual is made: its first part only, for what the event grew out of is in the
 * rest.
 */
const BASE_SHARE = 1 / 2
const BASE_MIN_COUNT = 2
/** Of a signal that moves: in two or three samples that lie close by chance, the next is often far from both. */
const MOVING_MIN_COUNT = 4
/**
 * Room above and below what is usual, as shares of its width and of its level; more where few samples say what is
 * usual.
 */
const ROOM = { width: 0.25, level: 0.05 }
const ROOM_OF_FEW = { width: 2, level: 0.1 }
const FEW_COUNT = 20
/** Samples that must leave what is usual in a row; one that stood still and has few samples in all shows with one. */
const RUN_COUNT = 2
const COARSE_COUNT = 40

/** The stretch before an event of which the usual is made. */
export function baseSpan(window: Span, startMs: number): Span {
  return { fromMs: window.fromMs, toMs: window.fromMs + (startMs - window.fromMs) * BASE_SHARE }
}

/** What was usual over a stretch, from the extremes of its points. */
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
 * The first point after the base from which on a signal stays outside of what is usual; undefined if it never does.
 *
 * What is asked is whether it left, not how far: a signal that swings widely before the event has to swing further.
 */
export function onsetOf(samples: LaneSamples, lane: EventLane, base: Span, usual: Usual): Onset | undefined {
  const { times, lows, highs } = samples
  const shares = usual.count < FEW_COUNT ? ROOM_OF_FEW : ROOM
  const widest = Math.max((usual.high - usual.low) * shares.width, Math.abs(usual.middle) * shares.level)
  const room = Math.max(widest, Number.MIN_VALUE)
  const floor = usual.low - room
  const ceiling = usual.high + room
  // A point that stands for several samples has their extremes, which say it alone.
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
  // The change lies behind the last sample that was usual, and within the time that the first other one stands for.
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

/** The middle of the stretch in which a change lies. */
export function middleOf({ earliestMs, latestMs }: Pick<Onset, 'earliestMs' | 'latestMs'>): number {
  return (earliestMs + latestMs) / 2
}

/** How far off the middle is at most. */
export function uncertaintyOf({ earliestMs, latestMs }: Pick<Onset, 'earliestMs' | 'latestMs'>): number {
  return (latestMs - earliestMs) / 2
}
