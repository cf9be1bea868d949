import type { SourceEdge } from '../sources/source.ts'

/** An edge with the number of its event, of no other event of its source. */
export interface HostEdge extends SourceEdge {
  readonly event: number
}

/** Events that may start of one device in a minute; each may end. */
export const STARTS_A_MINUTE = 60
/** Events of a source that may be open at a time, and devices whose starts are counted. */
const OPEN_COUNT_MAX = 4096
const MINUTE_MS = 60_000

/** Numbers the events of one source, and holds each device to its share. */
export class EdgeGate {
  readonly #open = new Map<string, number>()
  /** Starts of this minute, by device. */
  readonly #starts = new Map<string, number>()
  #minuteMs = Number.NEGATIVE_INFINITY
  /** A host that replaces this one must not give these numbers again. */
  #event = Date.now() * 1000
  /** Events that may start of one device in a minute. */
  startsMax: number

  /** @param startsMax Events that may start of one device in a minute. */
  constructor(startsMax: number = STARTS_A_MINUTE) {
    this.startsMax = startsMax
  }

  /** Whether it changes anything: a start of what has not started, or an end of what has. */
  isChange({ rule, device, isStart }: Pick<HostEdge, 'rule' | 'device' | 'isStart'>): boolean {
    return this.#open.has(keyOf(rule, device)) !== isStart
  }

  /** Takes an edge that {@link isChange}: the number of its event; undefined where it is beyond the limit. */
  take({ rule, device, isStart }: Pick<HostEdge, 'rule' | 'device' | 'isStart'>): number | undefined {
    const key = keyOf(rule, device)
    if (isStart) return this.#mayStart(device) ? this.#begin(key) : undefined
    const event = this.#open.get(key)
    this.#open.delete(key)
    return event
  }

  #begin(key: string): number {
    this.#open.set(key, ++this.#event)
    return this.#event
  }

  /** Rules, of those that are named, and devices whose event is open. */
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
    if (starts >= this.startsMax || !isKnown || this.#open.size >= OPEN_COUNT_MAX) return false
    this.#starts.set(device, starts + 1)
    return true
  }
}

/** A name of a rule may have any character. */
function keyOf(rule: string, device: string): string {
  return JSON.stringify([rule, device])
}
