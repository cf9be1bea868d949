import type { TracebackEvent } from '@sonde/sdk/api'
import { WholeEvents } from './whole-events.ts'

/** A kept event. */
export interface KeptEvent {
  readonly event: TracebackEvent
  /** Size on disk with the note. Unit: bytes. */
  readonly bytes: number
}

/** Limits of all kept events together. */
export interface KeptLimits {
  /** Unit: bytes. */
  readonly bytesMax: number
  readonly eventsMax: number
}

/** Part of both limits that events of clients may use. The agent's own events have the rest. */
const CLIENTS_PART = 1 / 2

/** Events of one client, or of the agent's own sources. */
interface OwnerEvents {
  /** In the order in which they were kept. */
  readonly numbers: Map<number, number>
  bytes: number
}

/**
 * The table of kept events: by number, by start, and by owner. The client with most events loses first, so a client
 * that begins event after event removes its own events.
 */
export class KeptEvents {
  readonly whole = new WholeEvents()
  readonly #limits: KeptLimits
  readonly #byId = new Map<number, KeptEvent>()
  /** By start, then by number: the latest last. */
  readonly #byStart: TracebackEvent[] = []
  /** By client; undefined for the agent's own sources. */
  readonly #held = new Map<string | undefined, OwnerEvents>()
  #bytes = 0
  #sequence = 0

  constructor(limits: KeptLimits) {
    this.#limits = limits
  }

  /** Unit: bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get count(): number {
    return this.#byId.size
  }

  /** Whether a limit is exceeded. The last event stays, whatever its size. */
  get isOver(): boolean {
    const { bytesMax, eventsMax } = this.#limits
    return this.count > 1 && (this.count > eventsMax || this.#bytes > bytesMax)
  }

  /** All events, the latest start last. Valid until an event is added or removed. */
  get byStart(): readonly TracebackEvent[] {
    return this.#byStart
  }

  get(id: number): KeptEvent | undefined {
    return this.#byId.get(id)
  }

  add(event: TracebackEvent, bytes: number): void {
    this.#byId.set(event.id, { event, bytes })
    this.#byStart.splice(positionByStart(this.#byStart, event), 0, event)
    this.whole.add(event)
    const held = this.#heldBy(event.client)
    held.numbers.set(event.id, this.#sequence++)
    held.bytes += bytes
    this.#bytes += bytes
  }

  remove(id: number): KeptEvent | undefined {
    const kept = this.#byId.get(id)
    if (kept === undefined) return undefined
    const { event, bytes } = kept
    this.#byId.delete(id)
    this.#byStart.splice(positionByStart(this.#byStart, event), 1)
    this.whole.remove(event)
    const held = this.#heldBy(event.client)
    held.numbers.delete(id)
    held.bytes -= bytes
    if (held.numbers.size === 0) this.#held.delete(event.client)
    this.#bytes -= bytes
    return kept
  }

  /**
   * The next event to remove: the oldest event of the client with most, if clients use more than half of a limit;
   * otherwise the oldest of all.
   */
  nextToLeave(): number | undefined {
    const { bytesMax, eventsMax } = this.#limits
    const own = this.#held.get(undefined)
    const isClients =
      this.count - (own?.numbers.size ?? 0) > CLIENTS_PART * eventsMax ||
      this.#bytes - (own?.bytes ?? 0) > CLIENTS_PART * bytesMax
    return isClients ? this.nextOfClients() : this.#oldest()
  }

  /** The oldest event of the client with most; undefined if no client has any. */
  nextOfClients(): number | undefined {
    let most: OwnerEvents | undefined
    for (const [client, held] of this.#held)
      if (client !== undefined && (most === undefined || this.#shareOf(held) > this.#shareOf(most))) most = held
    return most?.numbers.keys().next().value
  }

  #oldest(): number | undefined {
    let oldest: readonly [id: number, sequence: number] | undefined
    for (const { numbers } of this.#held.values()) {
      const [first] = numbers
      if (first !== undefined && (oldest === undefined || first[1] < oldest[1])) oldest = first
    }
    return oldest?.[0]
  }

  #shareOf({ numbers, bytes }: OwnerEvents): number {
    const { bytesMax, eventsMax } = this.#limits
    return Math.max(numbers.size / eventsMax, bytes / bytesMax)
  }

  #heldBy(client: string | undefined): OwnerEvents {
    let held = this.#held.get(client)
    if (held === undefined) {
      held = { numbers: new Map(), bytes: 0 }
      this.#held.set(client, held)
    }
    return held
  }
}

/** Whether an event comes after another in a list by start. */
export function isLater(a: Pick<TracebackEvent, 'startMs' | 'id'>, b: Pick<TracebackEvent, 'startMs' | 'id'>): boolean {
  return a.startMs === b.startMs ? a.id > b.id : a.startMs > b.startMs
}

/** Position of an event in a list by start. */
function positionByStart(events: readonly TracebackEvent[], event: TracebackEvent): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isLater(event, events[middle] as TracebackEvent)) low = middle + 1
    else high = middle
  }
  return low
}
