import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import { formatIn } from '../../format/number.ts'
import { type LaneScale, lowerBound } from './lane-scale.ts'
import type { Span } from './view-span.ts'

/** The value of a lane at a time. */
export type LaneReading =
  | { readonly kind: 'sample'; readonly at: number; readonly value: number }
  | { readonly kind: 'stretch'; readonly at: number; readonly low: number; readonly high: number }
  | { readonly kind: 'gap' }
  | { readonly kind: 'none' }

/** Reads a lane at a time: the sample that covers it, or the extremes of the span around it. */
export function readLane(lane: EventLane, samples: LaneSamples | undefined, timeMs: number): LaneReading {
  if (lane.gaps.some((gap) => timeMs > gap.fromMs && timeMs < gap.toMs)) return { kind: 'gap' }
  if (!samples || samples.times.length === 0) return { kind: 'none' }
  const { times, lows, highs, isExact } = samples
  const next = lowerBound(times, timeMs)
  if (!isExact) {
    const at = times[next] === timeMs ? next : next - 1
    if (at < 0) return { kind: 'none' }
    const low = lows[at]!
    const high = highs[at]!
    if (Number.isNaN(low)) return { kind: 'none' }
    return low === high ? { kind: 'sample', at, value: low } : { kind: 'stretch', at, low, high }
  }
  // A sample covers the time before it. If the next sample is late, the previous sample covers the rest.
  if (next < times.length && timeMs >= times[next]! - lane.resolutionMs)
    return { kind: 'sample', at: next, value: lows[next]! }
  if (next > 0 && timeMs - times[next - 1]! <= lane.resolutionMs)
    return { kind: 'sample', at: next - 1, value: lows[next - 1]! }
  return { kind: 'none' }
}

/**
 * Reads the newest value of a lane in a view. The samples of an open event end before the view, so an empty last span
 * falls back to the previous span.
 */
export function readLast(lane: EventLane, samples: LaneSamples | undefined, { fromMs, toMs }: Span): LaneReading {
  const reading = readLane(lane, samples, Math.min(toMs, samples?.times.at(-1) ?? toMs))
  if (reading.kind !== 'none' || !samples) return reading
  const { times, lows } = samples
  for (let at = lowerBound(times, toMs) - 1; at >= 0 && times[at]! >= fromMs; at--)
    if (!Number.isNaN(lows[at]!)) return readLane(lane, samples, times[at]!)
  return reading
}

/** A reading as text in the unit of its lane, without the unit. */
export function readingWords(reading: LaneReading, { unit }: Pick<LaneScale, 'unit'>): string {
  if (reading.kind === 'gap') return 'gap'
  if (reading.kind === 'none') return '–'
  if (reading.kind === 'sample') return formatIn(unit, reading.value)
  const low = formatIn(unit, reading.low)
  const high = formatIn(unit, reading.high)
  return low === high ? low : `${low} – ${high}`
}
