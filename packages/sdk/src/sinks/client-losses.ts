import type { PageId } from '../schema/batch.ts'

/** Clients that are remembered; whoever lost something longest ago leaves. */
const CLIENT_COUNT_LIMIT = 10_000

/** Records of clients' pages that a durable sink dropped, until whoever acknowledges pages asks. */
export class ClientLosses {
  readonly #records = new Map<bigint, number>()

  /** Records of a page were dropped; nothing to tell where their batch came in none. */
  add(page: PageId | undefined, records: number): void {
    if (page === undefined) return
    const before = this.take(page.client)
    this.#records.set(page.client, before + records)
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= CLIENT_COUNT_LIMIT) return
      this.#records.delete(oldest)
    }
  }

  /** Records of a client since this was asked last. */
  take(client: bigint): number {
    const records = this.#records.get(client) ?? 0
    this.#records.delete(client)
    return records
  }
}
