import type { EventLane } from '@sonde/sdk/api'
import { SIGNALS } from '../../hints/watch/signals.ts'
import type { KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { FAR } from '../nearness.ts'
import { isOf, type Signal } from './signals.ts'

/** Signals that hints look at, as type and field. */
const OF_HINTS: ReadonlySet<string> = new Set(SIGNALS.map(({ type, field }) => `${type} ${field}`))
/** Digits of a move that mean that a signal left what was usual. */
const MOVED_FROM = 2
const DIGITS = 10

/**
 * Where a signal stands among those of an event; the least stands first. That of the rule on the event's device;
 * signals that the file of rules lists, the nearest first, but for those that stood still elsewhere; signals that
 * moved: of the device and what belongs to it before the rest of the node, those that hints look at before others, the
 * farthest moved first; those that only wander; and those that stood still.
 */
export function rankOf(lane: EventLane, series: KeptSeries, { slot }: Signal, { listed }: ReadIndex): number {
  if (lane.isOfRule) return 0
  const { near, moves } = series
  const digit = Number(moves[slot.index] ?? 0)
  const isMoved = digit >= MOVED_FROM
  if ((near !== FAR || isMoved) && listed.some((signal) => isOf(signal, lane.type, slot, series))) return 1 + near
  const stage = isMoved ? 0 : digit === 1 ? 1 : 2
  const place = [stage, near === FAR ? 1 : 0, OF_HINTS.has(`${lane.type} ${slot.name}`) ? 0 : 1, DIGITS - 1 - digit]
  return 10 + place.reduce((rank, part) => rank * DIGITS + part, 0)
}
