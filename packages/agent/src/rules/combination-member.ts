import { Quota } from '@sonde/sdk/internal'
import type { MemberEdge } from './rule-edge.ts'

/**
 * Most devices on which one rule of a combination may hold at a time. Further devices are ignored and counted. Each
 * client has its usual share of this limit.
 */
const DEVICES_MAX = 1024

/** A rule of a combination, and the devices on which it holds. */
export class CombinationMember {
  readonly rule: string
  readonly #active = new Map<string, MemberEdge>()
  /**
   * The same edges by time, so that the latest edge needs no search. Of edges with equal times, the first arrival
   * stands last.
   */
  readonly #byTime: MemberEdge[] = []
  readonly #places = new Quota(DEVICES_MAX)

  constructor(rule: string) {
    this.rule = rule
  }

  /** The last beginning; undefined while the rule holds nowhere. */
  get latest(): MemberEdge | undefined {
    return this.#byTime.at(-1)
  }

  /** The first beginning; undefined while the rule holds nowhere. */
  get earliest(): MemberEdge | undefined {
    return this.#byTime[0]
  }

  /** Takes an edge of the rule. Returns false if the limit of devices is reached. */
  take(edge: MemberEdge): boolean {
    const { key = edge.device, holder, isStart } = edge
    const before = this.#active.get(key)
    if (!isStart) {
      if (before !== undefined) this.#remove(key, before)
      return true
    }
    if (before === undefined && this.#places.roomFor(holder) < 1) return false
    if (before !== undefined) this.#remove(key, before)
    this.#active.set(key, edge)
    this.#places.add(holder, 1)
    let at = this.#byTime.length
    while (at > 0 && (this.#byTime[at - 1] as MemberEdge).monoNs >= edge.monoNs) at--
    this.#byTime.splice(at, 0, edge)
    return true
  }

  #remove(key: string, edge: MemberEdge): void {
    this.#active.delete(key)
    this.#places.add(edge.holder, -1)
    this.#byTime.splice(this.#byTime.lastIndexOf(edge), 1)
  }
}
