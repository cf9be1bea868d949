import { join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { PageMarks } from '../../disk/page-marks.ts'
import type { PageId } from '../../schema/batch.ts'

/** Clients that are remembered; the client that was silent longest is forgotten first. */
const CLIENT_COUNT_LIMIT = 4096

/** The last page of each client that a queue has written, or is about to write; kept in a file beside the segments. */
export class QueuePages {
  readonly #marks: PageMarks
  readonly #onFault: (error: unknown) => void
  readonly #written = new Map<bigint, bigint>()
  readonly #underWay = new Map<bigint, bigint>()

  constructor(disk: Disk, folder: string, onFault: (error: unknown) => void) {
    this.#marks = new PageMarks(disk, join(folder, '.pages'))
    this.#onFault = onFault
  }

  /**
   * Reads the pages of earlier processes; `newest` are those of the newest segment. Without them, clients send pages
   * again: no reason to give the queue up.
   */
  async recall(newest: ReadonlyMap<bigint, bigint>): Promise<void> {
    try {
      if (newest.size > 0) await this.#marks.mark(newest)
      for (const [client, sequence] of await this.#marks.all()) this.written({ client, sequence })
    } catch (error) {
      this.#onFault(error)
      for (const [client, sequence] of newest) this.written({ client, sequence })
    }
  }

  /** Writes pages whose segment may be removed. */
  async keep(pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    if (pages.size > 0) await this.#marks.mark(pages).catch(this.#onFault)
  }

  /** Keeps a page without records for this queue. */
  skip(page: PageId): void {
    if (this.has(page)) return
    this.written(page)
    void this.keep(new Map([[page.client, page.sequence]]))
  }

  async close(): Promise<void> {
    await this.#marks.close().catch(this.#onFault)
  }

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
