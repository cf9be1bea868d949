import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { PageId } from '@sonde/sdk/internal'
import { CLIENT_COUNT_LIMIT, CLIENT_KEPT_MS, type ClientPage } from '../protocol.ts'

const KEY_PREFIX = 'client '

interface Known {
  sequence: bigint
  lastMs: number
}

/**
 * The last page of each client with records in the file. It is written in the transaction of the records, so that a
 * page that is sent again after a crash of either side is recognised. The rows are in the table of last writers:
 * `client <hex>` with sequence and time.
 */
export class ClientPages {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  /** In order of the last page: the client that was silent longest is first. */
  readonly #known = new Map<bigint, Known>()
  readonly #changed = new Set<bigint>()

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#insert = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    const rows = database.prepare("SELECT key, value FROM meta WHERE key GLOB 'client *'").all()
    const known = rows.flatMap(({ key, value }) => {
      const match = /^client ([0-9a-f]{16}) (\d{1,20}) (\d{1,15})$/.exec(`${key} ${value}`)
      return match === null ? [] : [[BigInt(`0x${match[1]}`), BigInt(match[2] ?? 0), Number(match[3])] as const]
    })
    known.sort(([, , a], [, , b]) => a - b)
    for (const [client, sequence, lastMs] of known) this.#known.set(client, { sequence, lastMs })
  }

  get count(): number {
    return this.#known.size
  }

  /** All known clients. */
  get all(): ClientPage[] {
    return [...this.#known].map(([client, { sequence }]) => [client, sequence])
  }

  /** The last page of a client; 0n if unknown. */
  last(client: bigint): bigint {
    return this.#known.get(client)?.sequence ?? 0n
  }

  /** Records of a client up to a page are written. */
  wrote({ client, sequence }: PageId): void {
    const known = this.#known.get(client)
    this.#known.delete(client)
    this.#known.set(client, { sequence, lastMs: known?.lastMs ?? 0 })
    this.#changed.add(client)
  }

  /** Writes the changes inside the transaction of the caller; returns them. */
  save(nowMs: number): ClientPage[] {
    const saved: ClientPage[] = []
    for (const client of this.#changed) {
      const known = this.#known.get(client)
      if (known === undefined) continue
      known.lastMs = nowMs
      this.#insert.run(clientKey(client), `${known.sequence} ${nowMs}`)
      saved.push([client, known.sequence])
    }
    this.#changed.clear()
    if (this.#known.size > CLIENT_COUNT_LIMIT) this.#forget(this.#known.size - CLIENT_COUNT_LIMIT)
    return saved
  }

  /** Forgets clients that will not return, inside the transaction of the caller. */
  prune(nowMs: number): void {
    let old = 0
    for (const { lastMs } of this.#known.values()) {
      if (lastMs > nowMs - CLIENT_KEPT_MS) break
      old++
    }
    this.#forget(old)
  }

  #forget(count: number): void {
    const remove = this.#database.prepare('DELETE FROM meta WHERE key = ?')
    for (const client of [...this.#known.keys()].slice(0, count)) {
      remove.run(clientKey(client))
      this.#known.delete(client)
    }
  }
}

function clientKey(client: bigint): string {
  return KEY_PREFIX + client.toString(16).padStart(16, '0')
}
