import type { PageId } from '../../schema/batch.ts'

/** Clients that are remembered; whoever was silent longest leaves. */
const CLIENT_COUNT_LIMIT = 10_000

interface Account {
  written: bigint
  /** The first page that was lost and that nobody asked about yet. */
  lost: bigint | undefined
}

/** What became of the pages of each client since the sink was opened, over all of the client's sources. */
export class PageLedger {
  readonly #accounts = new Map<bigint, Account>()

  written({ client, sequence }: PageId): void {
    const account = this.#accountOf(client)
    if (sequence > account.written) account.written = sequence
  }

  lost({ client, sequence }: PageId): void {
    const account = this.#accountOf(client)
    if (account.lost === undefined || sequence < account.lost) account.lost = sequence
  }

  /** The page up to which a client has lost nothing since it was last asked about; 0 where nothing is known. Asked when nothing waits to be written. */
  last(client: bigint): bigint {
    const account = this.#accounts.get(client)
    if (account === undefined) return 0n
    const { written, lost } = account
    account.lost = undefined
    return lost === undefined ? written : lost - 1n
  }

  #accountOf(client: bigint): Account {
    const account = this.#accounts.get(client) ?? { written: 0n, lost: undefined }
    this.#accounts.delete(client)
    this.#accounts.set(client, account)
    for (const oldest of this.#accounts.keys()) {
      if (this.#accounts.size <= CLIENT_COUNT_LIMIT) break
      this.#accounts.delete(oldest)
    }
    return account
  }
}
