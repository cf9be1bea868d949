import { Quota, type QuotaHolder } from '@sonde/sdk/internal'
import type { EventStart, OpenEvent } from './open-event.ts'

/**
 * Most events that are not kept yet. Each has an open file and tables of its series. Further events are counted.
 * Clients have their usual share, so they never use up the places of the agent's own sources.
 */
const OPEN_EVENTS_MAX = 256

/** Origin of an edge, and its number. All edges of one event have the same values. */
export type EdgeIdentity = Pick<EventStart, 'source' | 'edgeEvent' | 'holder' | 'isRing'>

/** The events that are not kept yet, and which of their rules still hold. */
export class OpenEvents {
  readonly #byId = new Map<number, OpenEvent>()
  /** Events whose rule holds, by the key of their edges. */
  readonly #going = new Map<string, OpenEvent>()
  readonly #places = new Quota(OPEN_EVENTS_MAX)

  get count(): number {
    return this.#byId.size
  }

  /** All events, in the order of their opening. Events may be added and removed meanwhile. */
  all(): readonly OpenEvent[] {
    return [...this.#byId.values()]
  }

  /** Events whose rule holds. */
  going(): readonly OpenEvent[] {
    return [...this.#going.values()]
  }

  get(id: number): OpenEvent | undefined {
    return this.#byId.get(id)
  }

  /** The event whose rule holds, by the origin of its edges. */
  goingOf(place: EdgeIdentity): OpenEvent | undefined {
    return this.#going.get(edgeKey(place))
  }

  /** Whether a holder may open another event. */
  hasRoom(holder: QuotaHolder): boolean {
    return this.#places.roomFor(holder) >= 1
  }

  add(event: OpenEvent): void {
    this.#byId.set(event.start.id, event)
    this.#going.set(edgeKey(event.start), event)
    this.#places.add(event.start.holder, 1)
  }

  /** The rule no longer holds. The event stays open until its window is kept. */
  ended(event: OpenEvent): void {
    const key = edgeKey(event.start)
    if (this.#going.get(key) === event) this.#going.delete(key)
  }

  /** The event is kept. */
  remove(event: OpenEvent): void {
    const { id, holder } = event.start
    if (!this.#byId.delete(id)) return
    this.ended(event)
    this.#places.add(holder, -1)
  }
}

/** A client's source may have the same name as a source of the agent, and hosts number their events independently. */
function edgeKey({ source, edgeEvent, holder, isRing }: EdgeIdentity): string {
  return `${edgeEvent} ${holder ?? 'own'} ${isRing} ${source}`
}
