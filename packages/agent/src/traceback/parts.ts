import type { EventPart, TracebackEvent } from '@sonde/sdk/api'

/**
 * Events as people see them. An event that became too long or too large has several parts, but is one event.
 * @param parts By start, the latest last.
 */
export function wholeEvents(parts: Iterable<TracebackEvent>): TracebackEvent[] {
  const found = new Map<number, TracebackEvent[]>()
  for (const part of parts) {
    const id = firstPartId(part)
    const own = found.get(id)
    if (own === undefined) found.set(id, [part])
    else own.push(part)
  }
  return Array.from(found.values(), joinParts)
}

/** An entry for a list of parts. */
export function partEntry({ id, startMs, endMs }: TracebackEvent): EventPart {
  return { id, startMs, ...(endMs === undefined ? {} : { endMs }) }
}

/** Joins all parts into their event. It has the start of the first part and the end of the last part. */
export function joinParts(parts: readonly TracebackEvent[]): TracebackEvent {
  const [earliest] = parts
  const last = parts.at(-1)
  if (earliest === undefined || last === undefined) throw new RangeError('an event has one part at least')
  if (parts.length === 1 && earliest.first === undefined) return earliest
  const { first, continues, endMs, end, window, ...known } = earliest
  const windows = parts.flatMap((part) => part.window ?? [])
  const [opening] = windows
  return {
    ...known,
    startMs: first?.startMs ?? earliest.startMs,
    errorMs: Math.max(...parts.map(({ errorMs }) => errorMs)),
    ...(last.endMs === undefined ? {} : { endMs: last.endMs }),
    ...(last.end === undefined ? {} : { end: last.end }),
    ...(opening === undefined ? {} : { window: { ...opening, toMs: windows.at(-1)?.toMs ?? opening.toMs } }),
    samples: sumOfParts(parts, 'samples'),
    leftOut: sumOfParts(parts, 'leftOut'),
    sizeBytes: sumOfParts(parts, 'sizeBytes'),
    parts: parts.length,
  }
}

/** The number of the first part of an event. Its part may have made room for others. */
export function firstPartId({ id, first }: TracebackEvent): number {
  return first?.id ?? id
}

function sumOfParts(parts: readonly TracebackEvent[], count: 'samples' | 'leftOut' | 'sizeBytes'): number {
  return parts.reduce((sum, part) => sum + part[count], 0)
}
