import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import { niceTop } from '../../chart/scale.ts'
import { type DisplayUnit, formatAxis, pickUnit } from '../../format/number.ts'
import { type DisplayQuantity, quantityOf } from '../../format/quantity.ts'
import { kindPlace } from './lane-groups.ts'
import type { Span } from './view-span.ts'

/** The range of values of a lane, and their text. */
export interface LaneScale {
  readonly bottom: number
  readonly top: number
  readonly unit: DisplayUnit
  readonly bottomText: string
  readonly topText: string
}

/** A range narrower than this share of its level does not start at 0. */
const NARROW_SHARE = 0.4
/** Padding above and below a range that does not start at 0, as a share of the range. */
const ROOM_SHARE = 0.15

/** The display quantity of a lane. Counters are rates per second. Bytes of a NIC are shown as bits. */
export function laneQuantity(lane: Pick<EventLane, 'kind' | 'type' | 'name' | 'unit' | 'role'>): DisplayQuantity {
  const isNetwork = kindPlace(lane) === 'nic' && !/pci/i.test(lane.name)
  return quantityOf({
    metric: isNetwork ? `rdma_${lane.name}` : lane.name,
    unit: lane.unit,
    role: lane.role,
    function: lane.role === 'counter' ? 'rate' : 'last',
  })
}

/** The scale of a lane for the view. Keeps `before` if it still fits, so that panning does not make the scale jump. */
export function laneScale(
  lane: EventLane,
  samples: LaneSamples | undefined,
  view: Span,
  before?: LaneScale,
): LaneScale {
  const quantity = laneQuantity(lane)
  const { low, high } = rangeOf(samples, view)
  if (low > high && before) return before
  const largest = Math.max(Math.abs(low), Math.abs(high))
  const unit = pickUnit(quantity, Number.isFinite(largest) ? largest : 0, before?.unit)
  // No value is known, so the scale has no text.
  if (low > high) return { bottom: 0, top: unit.divisor, unit, bottomText: '', topText: '' }
  // Percentages share a scale, so that lanes can be compared.
  if (quantity.base === '%' && low >= 0 && high <= 100 * unit.divisor) return withTexts(0, 100 * unit.divisor, unit)
  const isNarrow = lane.role === 'gauge' && low > 0 && high > low && high - low < high * NARROW_SHARE
  if (low >= 0 && !isNarrow) {
    const previous = before?.bottom === 0 ? before.top : undefined
    return withTexts(0, niceTop(high, unit.divisor, previous), unit)
  }
  if (before && before.bottom <= low && before.top >= high && high - low > (before.top - before.bottom) / 4)
    return before
  const room = (high - low || Math.abs(high) || 1) * ROOM_SHARE
  return withTexts(low - room, high + room, unit)
}

function withTexts(bottom: number, top: number, unit: DisplayUnit): LaneScale {
  return { bottom, top, unit, bottomText: formatAxis(unit, bottom), topText: formatAxis(unit, top) }
}

/** The least and the greatest value in a span. Without values, the least exceeds the greatest. */
function rangeOf(
  samples: LaneSamples | undefined,
  { fromMs, toMs }: Span,
): { readonly low: number; readonly high: number } {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  if (!samples) return { low, high }
  const { times, lows, highs } = samples
  const { first, last } = pointsWithin(samples, fromMs, toMs)
  for (let at = first; at <= last && at < times.length; at++) {
    if (lows[at]! < low) low = lows[at]!
    if (highs[at]! > high) high = highs[at]!
  }
  return { low, high }
}

/** The points of a span plus a point at each side, so that lines reach its edges. */
export function pointsWithin(
  { times }: LaneSamples,
  fromMs: number,
  toMs: number,
): { readonly first: number; readonly last: number } {
  return {
    first: Math.max(0, lowerBound(times, fromMs) - 1),
    last: Math.min(times.length - 1, lowerBound(times, toMs)),
  }
}

/** The first index whose time is `timeMs` or later. */
export function lowerBound(times: Float64Array, timeMs: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! < timeMs) low = middle + 1
    else high = middle
  }
  return low
}
