import type { QueuedPage } from './queued-page.ts'

/** Waiting parts of clients that are behind, for each client in order of arrival. The clients take turns. */
export class WaitingPages {
  /** The client with the next turn is first. */
  readonly #lanes = new Map<bigint, QueuedPage[]>()

  /** Number of clients with waiting parts. */
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
    // A part that the worker returns is older than the waiting parts.
    const index = lane.findIndex((other) => page.isBefore(other))
    lane.splice(index < 0 ? lane.length : index, 0, page)
  }

  /** Removes the oldest part of the client that has its turn and is not busy; undefined if there is none. */
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

  /** Removes the oldest part of the client with the most waiting data; undefined if nothing waits. */
  largest(): QueuedPage | undefined {
    let largest: [client: bigint, lane: QueuedPage[]] | undefined
    for (const each of this.#lanes) if (largest === undefined || each[1].length > largest[1].length) largest = each
    if (largest === undefined) return undefined
    const [client, lane] = largest
    const page = lane.shift()
    if (lane.length === 0) this.#lanes.delete(client)
    return page
  }

  /** All waiting parts. */
  *pages(): Generator<QueuedPage> {
    for (const lane of this.#lanes.values()) yield* lane
  }

  /** Removes everything. */
  clear(): QueuedPage[] {
    const pages = [...this.pages()]
    this.#lanes.clear()
    return pages
  }
}
