import { CLIENT_COUNT_LIMIT, type ClientPage } from './protocol.ts'

/** The last page of each client of the service that is on disk. */
export class LastPages {
  /** Who was silent longest is first, and forgotten first. */
  #pages = new Map<bigint, bigint>()

  /** 0n of a client that is not known. */
  of(client: bigint): bigint {
    return this.#pages.get(client) ?? 0n
  }

  /** Takes what the file knows, in place of what was. */
  restart(pages: readonly ClientPage[]): void {
    this.#pages = new Map(pages)
  }

  add(pages: readonly ClientPage[]): void {
    for (const [client, page] of pages) {
      this.#pages.delete(client)
      this.#pages.set(client, page)
    }
    for (const client of this.#pages.keys()) {
      if (this.#pages.size <= CLIENT_COUNT_LIMIT) return
      this.#pages.delete(client)
    }
  }
}
