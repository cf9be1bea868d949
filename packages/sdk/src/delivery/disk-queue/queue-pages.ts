import type { PageId } from '../../schema/batch.ts'

/** Clients that are remembered; the client that was silent longest is forgotten first. */
const CLIENT_COUNT_LIMIT = 4096

/** The last page of each client that a queue has written, or is about to write. */
export class QueuePages {
  readonly #written = new Map<bigint, bigint>()
  readonly #underWay = new Map<bigint, bigint>()

  /** Whether a page is there already, or about to be. */
  has({ client, sequence }: PageId): boolean {
    return sequence <= this.last(client) || sequence <= (this.#underWay.get(client) ?? 0n)
  }

  /** The last page of a client; 0 if none is known. */
  last(client: bigint): bigint {
    return this.#written.get(client) ?? 0n
  }

  /** A page is about to be written. */
  begin({ client, sequence }: PageId): void {
    this.#underWay.set(client, sequence)
  }

  /** A page was written. */
  written({ client, sequence }: PageId): void {
    if (sequence >= (this.#underWay.get(client) ?? 0n)) this.#underWay.delete(client)
    if (sequence < this.last(client)) return
    this.#written.delete(client)
    this.#written.set(client, sequence)
    for (const oldest of this.#written.keys()) {
      if (this.#written.size <= CLIENT_COUNT_LIMIT) return
      this.#written.delete(oldest)
    }
  }

  /** A page could not be written; the client may send it again. */
  forget({ client }: PageId): void {
    this.#underWay.delete(client)
  }
}
