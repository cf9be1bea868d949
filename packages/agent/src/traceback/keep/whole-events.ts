import type { TracebackEvent } from '@sonde/sdk/api'
import { firstPartId, joinParts } from '../parts.ts'

/** A kept event has ended. */
type EndedEvent = TracebackEvent & { readonly endMs: number }

/**
 * Kept events as people see them: an event of several parts is one. They stay in the order of their ends while parts
 * come and leave, so that a list takes the latest without a look at all others.
 */
export class WholeEvents {
  /** The parts of each event, by the number of its first part; in the order of their starts. */
  readonly #parts = new Map<number, readonly TracebackEvent[]>()
  /** The latest end last. */
  readonly #byEnd: EndedEvent[] = []

  /** The kept parts of an event, by the number of its first part. */
  partsOf(first: number): readonly TracebackEvent[] {
    return this.#parts.get(first) ?? []
  }

  add(part: TracebackEvent): void {
    const parts = [...this.partsOf(firstPartId(part)), part]
    this.#replace(
      firstPartId(part),
      parts.sort((a, b) => a.startMs - b.startMs || a.id - b.id),
    )
  }

  remove(part: TracebackEvent): void {
    const first = firstPartId(part)
    this.#replace(
      first,
      this.partsOf(first).filter(({ id }) => id !== part.id),
    )
  }

  /** Events that ended at a time or before, the latest first. Valid until an event is added or removed. */
  *endedBy(toMs: number): Generator<TracebackEvent> {
    const afterAll = { endMs: toMs, id: 0 }
    for (let at = this.#position(afterAll) - 1; at >= 0; at--) yield this.#byEnd[at] as TracebackEvent
  }

  #replace(first: number, parts: readonly TracebackEvent[]): void {
    const before = this.partsOf(first)
    if (before.length > 0) this.#byEnd.splice(this.#position(wholeOf(before)) - 1, 1)
    if (parts.length === 0) {
      this.#parts.delete(first)
      return
    }
    const whole = wholeOf(parts)
    this.#parts.set(first, parts)
    this.#byEnd.splice(this.#position(whole), 0, whole)
  }

  /** How many events end before an event, or are the event. */
  #position(event: Pick<EndedEvent, 'endMs' | 'id'>): number {
    let low = 0
    let high = this.#byEnd.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isAfter(this.#byEnd[middle] as EndedEvent, event)) high = middle
      else low = middle + 1
    }
    return low
  }
}

function wholeOf(parts: readonly TracebackEvent[]): EndedEvent {
  return joinParts(parts) as EndedEvent
}

/** Whether an event comes after another by end. Of equal ends the lesser number is later: lists are read backwards. */
function isAfter(a: Pick<EndedEvent, 'endMs' | 'id'>, b: Pick<EndedEvent, 'endMs' | 'id'>): boolean {
  return a.endMs === b.endMs ? String(a.id) < String(b.id) : a.endMs > b.endMs
}
