import type { EventMark, TracebackEvent } from '@sonde/sdk/internal'
import { isLater } from './keep/kept-events.ts'

/** Which events are asked for. */
export interface EventFilter {
  readonly rule?: string
  readonly device?: string
  readonly state?: 'open' | 'closed'
  /** An event matches when a part of it lies in this stretch. Unit: milliseconds since the Unix epoch. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly limit: number
}

/** Events that match, the latest first, and how many more there are. */
export interface ListedEvents {
  readonly events: readonly TracebackEvent[]
  readonly leftOut: number
}

/**
 * Lists the events that match.
 *
 * @param kept By start, the latest last. They may be many: without a condition, only those that are listed are looked
 * at.
 * @param open In any order. They are few.
 */
export function listed(
  kept: readonly TracebackEvent[],
  open: readonly TracebackEvent[],
  filter: EventFilter,
): ListedEvents {
  const going = open.filter((event) => matches(event, filter))
  const { latest, count } = latestOf(kept, filter)
  const events = [...going, ...latest].sort((a, b) => (isLater(a, b) ? -1 : 1)).slice(0, filter.limit)
  return { events, leftOut: going.length + count - events.length }
}

/** The latest of the kept events that match, and how many match. */
function latestOf(
  kept: readonly TracebackEvent[],
  filter: EventFilter,
): { readonly latest: readonly TracebackEvent[]; readonly count: number } {
  const { rule, device, state, fromMs, toMs, limit } = filter
  if (state === 'open') return { latest: [], count: 0 }
  const isAll = [rule, device, fromMs, toMs].every((condition) => condition === undefined)
  if (isAll) return { latest: kept.slice(-limit), count: kept.length }
  const latest: TracebackEvent[] = []
  let count = 0
  for (let at = kept.length - 1; at >= 0; at--) {
    const event = kept[at] as TracebackEvent
    if (!matches(event, filter)) continue
    count++
    if (latest.length < limit) latest.push(event)
  }
  return { latest, count }
}

function matches(event: TracebackEvent, { rule, device, state, fromMs, toMs }: EventFilter): boolean {
  const { endMs, startMs } = event
  if (rule !== undefined && event.rule !== rule) return false
  if (device !== undefined && event.device !== device) return false
  if (state !== undefined && (state === 'open') !== (endMs === undefined)) return false
  if (toMs !== undefined && startMs > toMs) return false
  return fromMs === undefined || endMs === undefined || endMs >= fromMs
}

/** Starts and ends of events within a stretch of time, the earliest first. */
export function marksIn(events: Iterable<TracebackEvent>, fromMs: number, toMs: number, limit: number): EventMark[] {
  const marks: EventMark[] = []
  for (const { id: event, rule, device, startMs, endMs, errorMs } of events) {
    const mark = { event, rule, device, errorMs }
    if (startMs >= fromMs && startMs <= toMs) marks.push({ ...mark, atMs: startMs, isStart: true })
    if (endMs !== undefined && endMs >= fromMs && endMs <= toMs) marks.push({ ...mark, atMs: endMs, isStart: false })
  }
  return marks.sort((a, b) => a.atMs - b.atMs).slice(0, limit)
}
