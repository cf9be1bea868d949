import { type Holder, Quota } from '@sonde/sdk/internal'
import type { OpenEvent } from './open-event.ts'

/**
 * Events that are not kept yet: each holds a file open, and tables of its series. Further events are counted. Clients
 * have the parts of it that they have of every limit, so they never fill the places of the agent's own sources.
 */
const OPEN_EVENTS_MAX = 256

/** The events that are not kept yet, and those of them whose rule still holds. */
export class OpenEvents {
  readonly #byId = new Map<number, OpenEvent>()
  /** Events whose rule holds, by source and the number of their edges. */
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
  goingOf(source: string, edgeEvent: number): OpenEvent | undefined {
    return this.#going.get(keyOf(source, edgeEvent))
  }

  /** Whether a holder may open another event. */
  hasRoom(holder: Holder): boolean {
    return this.#places.roomFor(holder) >= 1
  }

  add(event: OpenEvent): void {
    const { id, source, edgeEvent, holder } = event.start
    this.#byId.set(id, event)
    this.#going.set(keyOf(source, edgeEvent), event)
    this.#places.add(holder, 1)
  }

  /** Its rule holds no longer; it stays open until its window is kept. */
  ended(event: OpenEvent): void {
    const { source, edgeEvent } = event.start
    const key = keyOf(source, edgeEvent)
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

/** Two clients may have one source id and one device: what their edges bear tells their events apart. */
function keyOf(source: string, edgeEvent: number): string {
  return `${edgeEvent} ${source}`
}
