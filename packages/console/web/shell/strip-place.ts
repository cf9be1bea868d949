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

/** Left edge and width of a span on the strip, in per cent; undefined outside it. */
export function placeOn(strip: StripSpan, { fromMs, toMs }: StripSpan) {
  const lengthMs = strip.toMs - strip.fromMs
  const left = Math.max(0, (fromMs - strip.fromMs) / lengthMs)
  const right = Math.min(1, (toMs - strip.fromMs) / lengthMs)
  return right < 0 || left > 1 || right < left
    ? undefined
    : { left: `${left * 100}%`, width: `${(right - left) * 100}%` }
}

/** The window around an incident. */
export function windowOf({ startMs, endMs }: Pick<Incident, 'startMs' | 'endMs'>, nowMs: number): StripSpan {
  return { fromMs: startMs - INCIDENT_MARGIN_MS, toMs: Math.min(nowMs, (endMs ?? nowMs) + INCIDENT_MARGIN_MS) }
}

/** The incident before or after the shown window, by their starts; undefined if there is none. */
export function nextIncident(
  incidents: readonly Incident[],
  atMs: number,
  direction: 'before' | 'after',
): Incident | undefined {
  const sorted = incidents.toSorted((a, b) => a.startMs - b.startMs)
  return direction === 'before'
    ? sorted.findLast(({ startMs }) => startMs < atMs)
    : sorted.find(({ startMs }) => startMs > atMs)
}
