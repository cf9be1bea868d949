import type { PageId } from '../schema/batch.ts'

/** Clients that are remembered; whoever lost something longest ago leaves. */
const CLIENT_COUNT_LIMIT = 10_000

/** Records of clients' pages that a sink dropped, or does not show, until whoever acknowledges these pages asks. */
export class ClientLosses {
  /** Of each client the records of a page, in the order in which they were lost. */
  readonly #clients = new Map<bigint, Map<bigint, number>>()

  /** Records of a page were dropped; nothing to tell where their batch came in none. */
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
   * Records by page, of the pages of a client up to a sequence: once. Those of later pages are kept until these are
   * acknowledged.
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
