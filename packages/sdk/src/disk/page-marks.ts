import type { PageId } from '../schema/batch.ts'
import type { Disk } from './disk.ts'
import { PairsFile } from './pairs-file.ts'

/** Clients that are remembered; with more, the client that was silent longest is forgotten, and sends pages again. */
const CLIENT_COUNT_LIMIT = 4096

/** Pages by client. */
type Pages = Map<bigint, bigint>

/**
 * The last page of each client up to which all records are where they belong, or were removed by a filter. The marks
 * have a file of their own, because a filtered page is in no other file. If a mark is lost, the client sends pages
 * again; no record is lost.
 */
export class PageMarks {
  readonly #file: PairsFile
  /** Pages that came since the last flush began. */
  #seen: Pages = new Map()
  /** Pages that are written, or about to be; a promise while an earlier process's are read. */
  #marked: Promise<Pages> | undefined
  #writing = Promise.resolve()

  /** @param path Of the file, which is made with the first page. */
  constructor(disk: Disk, path: string) {
    this.#file = new PairsFile(disk, path)
  }

  /** A page was accepted, or left out. */
  see({ client, sequence }: PageId): void {
    this.#seen.set(client, sequence)
    if (this.#seen.size > CLIENT_COUNT_LIMIT) dropOldest(this.#seen)
  }

  /** Takes the marks since the last call, at the start of a flush. */
  takeSeen(): ReadonlyMap<bigint, bigint> | undefined {
    if (this.#seen.size === 0) return undefined
    const seen = this.#seen
    this.#seen = new Map()
    return seen
  }

  /** The last page of a client; 0 if none is known. */
  async lastPage(client: bigint): Promise<bigint> {
    return (await this.#load()).get(client) ?? 0n
  }

  /** The last page of each client that is known. */
  all(): Promise<ReadonlyMap<bigint, bigint>> {
    return this.#load()
  }

  /** Everything up to these pages is where it belongs. Rejects where that cannot be written. */
  mark(pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(pages))
    return this.#writing
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined)
    await this.#file.close()
  }

  async #write(pages: ReadonlyMap<bigint, bigint>): Promise<void> {
    const marked = await this.#load()
    for (const [client, sequence] of pages) {
      if (sequence < (marked.get(client) ?? 0n)) continue
      marked.delete(client)
      marked.set(client, sequence)
    }
    while (marked.size > CLIENT_COUNT_LIMIT) dropOldest(marked)
    await this.#file.add([...pages], () => [...marked])
  }

  #load(): Promise<Pages> {
    this.#marked ??= this.#read().catch((error: unknown) => {
      this.#marked = undefined
      throw error
    })
    return this.#marked
  }

  async #read(): Promise<Pages> {
    const pages: Pages = new Map()
    for (const [client, sequence] of await this.#file.read())
      if (sequence > (pages.get(client) ?? 0n)) pages.set(client, sequence)
    return pages
  }
}

function dropOldest(pages: Pages): void {
  for (const client of pages.keys()) {
    pages.delete(client)
    return
  }
}
