import { INCIDENT_MARGIN_MS, type Incident } from '@sonde/sdk/api'

/** The longest time that the strip shows. Unit: milliseconds. */
const STRIP_MAX_MS = 86_400_000
/** Least that it shows, so that a new history is no single point. Unit: milliseconds. */
const STRIP_LEAST_MS = 600_000

/** A span of time. Unit: milliseconds since the epoch. */
export interface StripSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** The history that exists, of the last day. */
export function stripSpan(nowMs: number, oldestMs: number | null | undefined): StripSpan {
  const fromMs = Math.max(nowMs - STRIP_MAX_MS, Math.min(oldestMs ?? nowMs, nowMs - STRIP_LEAST_MS))
  return { fromMs, toMs: nowMs }
}

/**
 * Left edge and width of a span on the strip; undefined outside it. The strip moves with time: what a transform moves
 * does not count as a shift of the layout.
 */
export function placeOn(strip: StripSpan, { fromMs, toMs }: StripSpan) {
  const lengthMs = strip.toMs - strip.fromMs
  const left = Math.max(0, (fromMs - strip.fromMs) / lengthMs)
  const right = Math.min(1, (toMs - strip.fromMs) / lengthMs)
  return right < 0 || left > 1 || right < left
    ? undefined
    : { transform: `translateX(${left * 100}cqi)`, width: `${(right - left) * 100}%` }
}

/** The window around an incident. */
export function windowOf({ startMs, endMs }: Pick<Incident, 'startMs' | 'endMs'>, nowMs: number): StripSpan {
  return { fromMs: startMs - INCIDENT_MARGIN_MS, toMs: Math.min(nowMs, (endMs ?? nowMs) + INCIDENT_MARGIN_MS) }
}

/** The incident at a time, or the nearest within a distance; of several the one that began last. */
export function incidentNear(incidents: readonly Incident[], atMs: number, withinMs: number): Incident | undefined {
  const distance = ({ startMs, endMs = Number.POSITIVE_INFINITY }: Incident) =>
    Math.max(0, startMs - atMs, atMs - endMs)
  return incidents
    .filter((one) => distance(one) <= withinMs)
    .toSorted((a, b) => distance(a) - distance(b) || b.startMs - a.startMs)[0]
}

/** The incident before or after the shown window, by their starts; undefined if there is none. */
export function nextIncident(
  incidents: readonly Incident[],
  fromMs: number,
  direction: 'before' | 'after',
): Incident | undefined {
  // The window of an incident begins this much before it, in whole milliseconds.
  const atMs = fromMs + INCIDENT_MARGIN_MS
  const sorted = incidents.toSorted((a, b) => a.startMs - b.startMs)
  return direction === 'before'
    ? sorted.findLast(({ startMs }) => startMs < atMs - 1)
    : sorted.find(({ startMs }) => startMs > atMs + 1)
}
