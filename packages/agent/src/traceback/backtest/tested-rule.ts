import type { Labels } from '@sonde/sdk'

/** Events of a rule that are kept; all are counted. */
const EVENTS_MAX = 10_000

/** An event that a rule would have had. */
export interface TestedEvent {
  readonly rule: string
  /** A name for people of the device or series that began it, such as `netdev eth0`. */
  readonly device: string
  /** Source of the series; empty for a combination. */
  readonly source: string
  readonly labels: Labels
  /** Unit: nanoseconds since the Unix epoch. */
  readonly startNs: bigint
  /** Its end, or the last time at which it is known to hold. Unit: nanoseconds since the Unix epoch. */
  readonly endNs: bigint
  /** `over`: the rule no longer held. `interrupted`: the records paused. `open`: it held when the records ended. */
  readonly end: 'over' | 'interrupted' | 'open'
}

/** The series of an event. */
export interface TestedPlace {
  /** Is final once all series are known, because a series of several of one device has a longer name. */
  device: string
  readonly source: string
  readonly labels: Labels
}

type KeptEvent = Pick<TestedEvent, 'startNs' | 'endNs' | 'end'> & { readonly place: TestedPlace }

/** The events of one rule. */
export class TestedRule {
  readonly name: string
  eventCount = 0
  /** Unit: nanoseconds, for all events together. */
  heldNs = 0n
  longestNs = 0n
  readonly #kept: KeptEvent[] = []
  readonly #places = new Set<TestedPlace>()
  readonly #open = new Map<TestedPlace, bigint>()

  constructor(name: string) {
    this.name = name
  }

  /** Number of devices that had events. */
  get deviceCount(): number {
    return new Set([...this.#places].map(({ device }) => device)).size
  }

  /** The first events, in the order in which they ended within their series. */
  get events(): TestedEvent[] {
    return this.#kept.map(({ place, startNs, endNs, end }) => ({ rule: this.name, ...place, startNs, endNs, end }))
  }

  /** Begins an event on a series. A rule that holds on it already is left alone. */
  begin(place: TestedPlace, ns: bigint): void {
    if (!this.#open.has(place)) this.#open.set(place, ns)
  }

  /** Ends the event on a series, if there is one. */
  end(place: TestedPlace, ns: bigint, end: TestedEvent['end']): void {
    const startNs = this.#open.get(place)
    if (startNs === undefined) return
    this.#open.delete(place)
    const endNs = ns > startNs ? ns : startNs
    const lastedNs = endNs - startNs
    this.eventCount++
    this.heldNs += lastedNs
    if (lastedNs > this.longestNs) this.longestNs = lastedNs
    this.#places.add(place)
    if (this.#kept.length < EVENTS_MAX) this.#kept.push({ place, startNs, endNs, end })
  }
}
