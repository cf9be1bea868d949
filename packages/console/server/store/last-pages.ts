import { CLIENT_COUNT_LIMIT, CLIENT_KEPT_MS, type ClientPage } from './protocol.ts'

interface LastPage {
  readonly sequence: bigint
  readonly savedMs: number
}

/** The last page of each client of the service that is on disk. */
export class LastPages {
  /** The client that was silent longest is first, and is forgotten first. */
  readonly #pages = new Map<bigint, LastPage>()

  get count(): number {
    return this.#pages.size
  }

  /** 0n for an unknown client. */
  of(client: bigint): bigint {
    return this.#pages.get(client)?.sequence ?? 0n
  }

  /** Takes the state of the file, and replaces the earlier state. */
  restart(pages: readonly ClientPage[], nowMs: number): void {
    this.#pages.clear()
    this.add(pages, nowMs)
  }

  add(pages: readonly ClientPage[], nowMs: number): void {
    for (const [client, sequence] of pages) {
      this.#pages.delete(client)
      this.#pages.set(client, { sequence, savedMs: nowMs })
    }
    for (const [client, { savedMs }] of this.#pages) {
      if (this.#pages.size <= CLIENT_COUNT_LIMIT && savedMs > nowMs - CLIENT_KEPT_MS) return
      this.#pages.delete(client)
    }
  }
}
