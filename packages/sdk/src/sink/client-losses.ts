import type { PageId } from '../schema/batch.ts'

/** Clients that are remembered; the client with the oldest loss is forgotten first. */
const CLIENT_COUNT_LIMIT = 10_000

/** Records of clients' pages that a sink dropped or does not show, until the acknowledger of these pages takes them. */
export class ClientLosses {
  /** By client, the lost records by page, in the order of the losses. */
  readonly #clients = new Map<bigint, Map<bigint, number>>()

  /** Notes dropped records of a page; ignores batches that came in no page. */
  add(page: PageId | undefined, records: number): void {
    if (page === undefined || records === 0) return
    const pages = this.#clients.get(page.client) ?? new Map<bigint, number>()
    pages.set(page.sequence, (pages.get(page.sequence) ?? 0) + records)
    this.#clients.delete(page.client)
    this.#clients.set(page.client, pages)
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= CLIENT_COUNT_LIMIT) return
      this.#clients.delete(oldest)
    }
  }

  /**
   * Takes the lost records by page, of the pages of a client up to a sequence. Those of later pages stay until these
   * pages are acknowledged.
   */
  take(client: bigint, upTo: bigint): ReadonlyMap<bigint, number> {
    const pages = this.#clients.get(client)
    const taken = new Map<bigint, number>()
    for (const [sequence, records] of pages ?? []) {
      if (sequence > upTo) continue
      taken.set(sequence, records)
      pages?.delete(sequence)
    }
    if (pages?.size === 0) this.#clients.delete(client)
    return taken
  }
}
