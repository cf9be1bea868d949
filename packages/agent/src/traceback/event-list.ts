import type { EventMark, TracebackEvent } from '@sonde/sdk/api'
import { isLater } from './keep/kept-events.ts'
import { wholeEvents } from './parts.ts'

/** Conditions for a list of events. */
export interface EventFilter {
  readonly rule?: string
  readonly device?: string
  readonly state?: 'open' | 'closed'
  /** An event matches if a part of it is in this time span. Unit: milliseconds since the Unix epoch. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly limit: number
}

/** Matching events, the latest first, and the number of further events. */
export interface ListedEvents {
  readonly events: readonly TracebackEvent[]
  readonly leftOut: number
}

/**
 * Lists the matching events. Parts of one event give one row.
 * @param kept By start, the latest last. At most `events_max`.
 * @param open In any order; there are only a few.
 */
export function listEvents(
  kept: readonly TracebackEvent[],
  open: readonly TracebackEvent[],
  filter: EventFilter,
): ListedEvents {
  const parts = open.length === 0 ? kept : [...kept, ...open.toSorted((a, b) => (isLater(a, b) ? 1 : -1))]
  const matching = wholeEvents(parts).filter((event) => matches(event, filter))
  const events = matching.sort((a, b) => (isLater(a, b) ? -1 : 1)).slice(0, filter.limit)
  return { events, leftOut: matching.length - events.length }
}

function matches(event: TracebackEvent, { rule, device, state, fromMs, toMs }: EventFilter): boolean {
  const { endMs, startMs } = event
  if (rule !== undefined && event.rule !== rule) return false
  if (device !== undefined && event.device !== device) return false
  if (state !== undefined && (state === 'open') !== (endMs === undefined)) return false
  if (toMs !== undefined && startMs > toMs) return false
  return fromMs === undefined || endMs === undefined || endMs >= fromMs
}

/**
 * Starts and ends of events within a time span, the earliest first. The cut between two parts of an event gives no
 * mark.
 * @param events Open events first, then the others, the latest end first.
 */
export function marksIn(events: Iterable<TracebackEvent>, fromMs: number, toMs: number, limit: number): EventMark[] {
  const marks: EventMark[] = []
  for (const { id: event, rule, device, startMs, endMs, errorMs } of events) {
    if (endMs !== undefined && endMs < fromMs) break
    const mark = { event, rule, device, errorMs }
    if (startMs >= fromMs && startMs <= toMs) marks.push({ ...mark, atMs: startMs, isStart: true })
    if (endMs !== undefined && endMs <= toMs) marks.push({ ...mark, atMs: endMs, isStart: false })
  }
  return marks.sort((a, b) => a.atMs - b.atMs).slice(0, limit)
}
