import type { EventLane } from '@sonde/sdk/api'
import { SIGNALS } from '../../hints/watch/signals.ts'
import type { KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { FAR } from '../nearness.ts'
import { isSignalOf, type LaneSignal } from './signals.ts'

/** Signals that hints use, as type and field. */
const OF_HINTS: ReadonlySet<string> = new Set(SIGNALS.map(({ type, field }) => `${type} ${field}`))
/** Lowest movement digit of a signal that left its usual range. */
const MOVED_FROM = 2
const DIGITS = 10

/**
 * Rank of a signal among those of an event; the lowest comes first.
 * First comes the signal of the rule on the event's device. Then come signals that the file of rules lists, the nearest
 * first, except those that stood still elsewhere. Then come signals that moved: those of near devices before the rest
 * of the node, those that hints use before others, the farthest movement first. Then come signals with only their usual
 * movement, and finally those that stood still.
 */
export function signalRank(lane: EventLane, series: KeptSeries, { slot }: LaneSignal, { listed }: ReadIndex): number {
  if (lane.isOfRule) return 0
  const { near, moves } = series
  const digit = Number(moves[slot.index] ?? 0)
  const isMoved = digit >= MOVED_FROM
  if ((near !== FAR || isMoved) && listed.some((signal) => isSignalOf(signal, lane.type, slot, series))) return 1 + near
  const stage = isMoved ? 0 : digit === 1 ? 1 : 2
  const place = [stage, near === FAR ? 1 : 0, OF_HINTS.has(`${lane.type} ${slot.name}`) ? 0 : 1, DIGITS - 1 - digit]
  return 10 + place.reduce((rank, part) => rank * DIGITS + part, 0)
}
