import type { SourceEdge } from '../sources/source.ts'

/** An edge with the number of its event, of no other event of its source. */
export interface HostEdge extends SourceEdge {
  readonly event: number
}

/** Events that may start of one device in a minute; each may end. */
export const STARTS_A_MINUTE = 60
/** Limits of open events of a source, and of devices with counted starts. */
const OPEN_COUNT_MAX = 4096
const MINUTE_MS = 60_000

/**
 * Number of slots for event numbers. The remainder of a number is its slot: 0 for the agent, 1 and more for its sources
 * in the order of the configuration. Further sources share slots; the agent renumbers an event if its number is in use.
 */
export const EVENT_SLOTS = 256

/** The slot of the source at a place of the configuration. */
export function eventSlot(index: number): number {
  return 1 + (index % (EVENT_SLOTS - 1))
}

/** The first number of a slot, from now on: numbers rise with the clock, so that a later process gives none again. */
export function firstEventOf(slot: number, nowMs: number = Date.now()): number {
  return Math.ceil((nowMs * 1000) / EVENT_SLOTS) * EVENT_SLOTS + slot
}

/** Options of an {@link EdgeGate}. */
export interface EdgeLimits {
  /** Events that may start of one device in a minute. Default: 60. */
  readonly startsMax?: number | undefined
  /** See {@link EVENT_SLOTS}. Default: 0. */
  readonly slot?: number | undefined
  /** Numbers rise from this time on. Default: now. Unit: milliseconds since the Unix epoch. */
  readonly fromMs?: number | undefined
}

/** Numbers the events of one source, and holds each device to its share. */
export class EdgeGate {
  readonly #open = new Map<string, number>()
  /** Starts of this minute, by device. */
  readonly #starts = new Map<string, number>()
  #minuteMs = Number.NEGATIVE_INFINITY
  /** The next number; a successor of this host must not reuse earlier numbers. */
  #event: number
  readonly #startsMax: number

  constructor({ startsMax = STARTS_A_MINUTE, slot = 0, fromMs }: EdgeLimits = {}) {
    this.#startsMax = startsMax
    this.#event = firstEventOf(slot, fromMs)
  }

  /** Whether an edge changes a state: a start without an open event, or an end of an open event. */
  isChange({ rule, device, isStart }: Pick<HostEdge, 'rule' | 'device' | 'isStart'>): boolean {
    return this.#open.has(edgeRuleKey(rule, device)) !== isStart
  }

  /**
   * Accepts an edge that {@link isChange}. Returns the number of its event; undefined above the limit.
   *
   * @param share The share in which a start counts. Default: that of its device.
   */
  take(edge: Pick<HostEdge, 'rule' | 'device' | 'isStart'>, share: string = edge.device): number | undefined {
    const { rule, device, isStart } = edge
    const key = edgeRuleKey(rule, device)
    if (isStart) return this.#mayStart(share) ? this.#begin(key) : undefined
    const event = this.#open.get(key)
    this.#open.delete(key)
    return event
  }

  #begin(key: string): number {
    this.#event += EVENT_SLOTS
    this.#open.set(key, this.#event)
    return this.#event
  }

  /** The named rules and devices with an open event. */
  openOf(rules: readonly string[]): { readonly rule: string; readonly device: string }[] {
    const named = new Set(rules)
    return [...this.#open.keys()].flatMap((key) => {
      const [rule = '', device = ''] = JSON.parse(key) as string[]
      return named.has(rule) ? [{ rule, device }] : []
    })
  }

  #mayStart(device: string): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#minuteMs >= MINUTE_MS) {
      this.#starts.clear()
      this.#minuteMs = nowMs
    }
    const starts = this.#starts.get(device) ?? 0
    const isKnown = starts > 0 || this.#starts.size < OPEN_COUNT_MAX
    if (starts >= this.#startsMax || !isKnown || this.#open.size >= OPEN_COUNT_MAX) return false
    this.#starts.set(device, starts + 1)
    return true
  }
}

/** A name of a rule may have any character. */
function edgeRuleKey(rule: string, device: string): string {
  return JSON.stringify([rule, device])
}
