import type { EventMark, TracebackEvent } from '@sonde/sdk/internal'

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
export function filtered(
  events: Iterable<TracebackEvent>,
  { rule, device, state, fromMs, toMs, limit }: EventFilter,
): { readonly events: readonly TracebackEvent[]; readonly leftOut: number } {
  const matches: TracebackEvent[] = []
  for (const event of events) {
    const { endMs } = event
    if (rule !== undefined && event.rule !== rule) continue
    if (device !== undefined && event.device !== device) continue
    if (state !== undefined && (state === 'open') !== (endMs === undefined)) continue
    if (toMs !== undefined && event.startMs > toMs) continue
    if (fromMs !== undefined && endMs !== undefined && endMs < fromMs) continue
    matches.push(event)
  }
  matches.sort((a, b) => b.startMs - a.startMs || b.id - a.id)
  return { events: matches.slice(0, limit), leftOut: Math.max(0, matches.length - limit) }
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
