import type { QueuedPage } from './queued-page.ts'

/** What clients that are behind have waiting, for each in the order of its arrival: the clients take turns. */
export class Lanes {
  /** Whose turn is next is first. */
  readonly #lanes = new Map<bigint, QueuedPage[]>()

  /** Clients that have something waiting. */
  get count(): number {
    return this.#lanes.size
  }

  has(client: bigint): boolean {
    return this.#lanes.has(client)
  }

  /** Adds a part that holds records of this client only. */
  add(client: bigint, page: QueuedPage): void {
    const lane = this.#lanes.get(client)
    if (lane === undefined) {
      this.#lanes.set(client, [page])
      return
    }
    // What comes back from the worker is older than what waits.
    const index = lane.findIndex((other) => page.isBefore(other))
    lane.splice(index < 0 ? lane.length : index, 0, page)
  }

  /** Takes out the oldest of the client whose turn it is and that is not busy; undefined if there is none. */
  next(isBusy: (client: bigint) => boolean): QueuedPage | undefined {
    for (const [client, lane] of this.#lanes) {
      if (isBusy(client)) continue
      this.#lanes.delete(client)
      const page = lane.shift()
      if (lane.length > 0) this.#lanes.set(client, lane)
      return page
    }
    return undefined
  }

  /** Takes out the oldest of the client that has the most waiting; undefined if nothing waits. */
  largest(): QueuedPage | undefined {
    let largest: [client: bigint, lane: QueuedPage[]] | undefined
    for (const each of this.#lanes) if (largest === undefined || each[1].length > largest[1].length) largest = each
    if (largest === undefined) return undefined
    const [client, lane] = largest
    const page = lane.shift()
    if (lane.length === 0) this.#lanes.delete(client)
    return page
  }

  /** Everything that waits. */
  *pages(): Generator<QueuedPage> {
    for (const lane of this.#lanes.values()) yield* lane
  }

  /** Takes out everything. */
  clear(): QueuedPage[] {
    const pages = [...this.pages()]
    this.#lanes.clear()
    return pages
  }
}
