import type { PageId } from '../../schema/batch.ts'

/** Limit of clients whose last page is cached; the longest silent client is read from the files again. */
const CLIENT_COUNT_LIMIT = 1024

/**
 * The last page of each client that one source's files hold, or are about to. Pages of a source are written in order,
 * so that one number says it all.
 */
export class WrittenPages {
  readonly #lookUp: (client: bigint) => Promise<bigint>
  readonly #written = new Map<bigint, bigint>()
  readonly #underWay = new Map<bigint, bigint>()

  /** @param lookUp The last page that the files hold: asked at the first page of a client. */
  constructor(lookUp: (client: bigint) => Promise<bigint>) {
    this.#lookUp = lookUp
  }

  /** Whether a page is there already, or will be. */
  async has(page: PageId): Promise<boolean> {
    const { client, sequence } = page
    if (sequence <= (this.#underWay.get(client) ?? 0n)) return true
    if (!this.#written.has(client)) this.written({ client, sequence: await this.#lookUp(client) })
    return this.hasNow(page)
  }

  /** Whether a page is known to be there, without looking. */
  hasNow({ client, sequence }: PageId): boolean {
    return sequence <= (this.#written.get(client) ?? 0n)
  }

  /** A page is about to be written. */
  begin({ client, sequence }: PageId): void {
    this.#underWay.set(client, sequence)
  }

  /** A page was written. */
  written({ client, sequence }: PageId): void {
    if (sequence >= (this.#underWay.get(client) ?? 0n)) this.#underWay.delete(client)
    this.#written.delete(client)
    this.#written.set(client, sequence)
    for (const oldest of this.#written.keys()) {
      if (this.#written.size <= CLIENT_COUNT_LIMIT) break
      this.#written.delete(oldest)
    }
  }

  /** A page and its successors could not be written; the client may send them again. */
  forget({ client }: PageId): void {
    this.#underWay.delete(client)
  }
}
