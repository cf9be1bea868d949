import { type Holder, Quota } from '@sonde/sdk/internal'
import type { EventStart, OpenEvent } from './open-event.ts'

/**
 * Events that are not kept yet: each holds a file open, and tables of its series. Further events are counted. Clients
 * have the parts of it that they have of every limit, so they never fill the places of the agent's own sources.
 */
const OPEN_EVENTS_MAX = 256

/** Where edges come from, and the number that they bear: those of one event have all of it alike. */
export type EdgePlace = Pick<EventStart, 'source' | 'edgeEvent' | 'holder' | 'isRing'>

/** The events that are not kept yet, and those of them whose rule still holds. */
export class OpenEvents {
  readonly #byId = new Map<number, OpenEvent>()
  /** Events whose rule holds, by what their edges bear. */
  readonly #going = new Map<string, OpenEvent>()
  readonly #places = new Quota(OPEN_EVENTS_MAX)

  get count(): number {
    return this.#byId.size
  }

  /** All of them, in the order in which they opened. Events may be added and removed meanwhile. */
  all(): readonly OpenEvent[] {
    return [...this.#byId.values()]
  }

  /** Those whose rule holds. */
  going(): readonly OpenEvent[] {
    return [...this.#going.values()]
  }

  get(id: number): OpenEvent | undefined {
    return this.#byId.get(id)
  }

  /** The event whose rule holds, by what its edges bear. */
  goingOf(place: EdgePlace): OpenEvent | undefined {
    return this.#going.get(keyOf(place))
  }

  /** Whether a holder may open another event. */
  hasRoom(holder: Holder): boolean {
    return this.#places.roomFor(holder) >= 1
  }

  add(event: OpenEvent): void {
    this.#byId.set(event.start.id, event)
    this.#going.set(keyOf(event.start), event)
    this.#places.add(event.start.holder, 1)
  }

  /** Its rule holds no longer; it stays open until its window is kept. */
  ended(event: OpenEvent): void {
    const key = keyOf(event.start)
    if (this.#going.get(key) === event) this.#going.delete(key)
  }

  /** It is kept. */
  remove(event: OpenEvent): void {
    const { id, holder } = event.start
    if (!this.#byId.delete(id)) return
    this.ended(event)
    this.#places.add(holder, -1)
  }
}

/**
 * A client may call its source as a source of the agent is called, and hosts number their events apart from the rest.
 */
function keyOf({ source, edgeEvent, holder, isRing }: EdgePlace): string {
  return `${edgeEvent} ${holder ?? 'own'} ${isRing} ${source}`
}
