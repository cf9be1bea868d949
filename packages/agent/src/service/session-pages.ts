import type { LinkReader, ReadPage } from '@sonde/sdk/internal'
import { wrong } from './announced.ts'
import { keepShortLabels } from './check-labels.ts'
import { checkPage } from './check-page.ts'
import type { Client } from './client.ts'
import type { ClientRegistry } from './client-registry.ts'
import type { ClientSlotFile } from './client-slot-file.ts'
import { GAP_PAGES } from './config.ts'

/** Reads the pages of one connection, and counts their records. */
export class SessionPages {
  /** Pages that were taken. */
  count = 0
  records = 0
  bytes = 0
  readonly #room: ClientRegistry
  readonly #announced: LinkReader

  /** @param announced The types and sources that the client has announced. */
  constructor(room: ClientRegistry, announced: LinkReader) {
    this.#room = room
    this.#announced = announced
  }

  /**
   * Resolves when there may be room for a page; undefined if there is.
   *
   * @throws SondeError `IPC_FRAME` if it refers to a source that the client never announced.
   */
  room(client: Client, { sequence, source }: ReadPage): Promise<void> | undefined {
    return sequence <= client.accepted ? undefined : this.#room.room(this.#announced.source(source).info)
  }

  /**
   * Takes a page; a page that came before is counted as a duplicate. `file`: where its bytes are if they are not in the
   * page.
   *
   * @throws SondeError `IPC_FRAME` if it leaves out more pages than a client may drop, or refers to what the client
   * never announced.
   */
  take(client: Client, page: ReadPage, file: ClientSlotFile | undefined): void {
    const { sequence, count, byteLength, clock, crc } = page
    if (sequence <= client.accepted) {
      this.#room.stats.duplicatePages++
      return
    }
    this.#checkGap(client, sequence)
    const { info: source, texts } = this.#announced.source(page.source)
    const type = this.#announced.type(page.type)
    const bytes = this.#room.pageBytes.subarray(0, byteLength)
    const refusal = typeof type === 'string' ? type : checkPage(page, type, file, bytes)
    if (typeof type === 'string' || refusal !== undefined) {
      // A count that lies is counted as no more than its bytes can hold.
      this.#room.drop(client, sequence, refusal ?? '', Math.min(count, byteLength))
      return
    }
    const { longest, ofBatches: symbols } = texts
    const kept = keepShortLabels({ type, source, symbols, longest }, bytes)
    if (kept < count) this.#room.drop(client, sequence, 'labels_limit', count - kept)
    const batch = { type, source, clock, symbols, page: { client: client.id, sequence }, ...arrival() }
    if (kept === count) this.#room.accept({ ...batch, count, bytes, checksum: { bytes, crc32: crc } }, client)
    else if (kept > 0)
      this.#room.accept({ ...batch, count: kept, bytes: bytes.subarray(0, kept * type.layout.recordBytes) }, client)
    this.count++
    this.records += kept
    this.bytes += byteLength
  }

  /** A client drops its oldest pages where it must; nobody drops so many that a sequence leaps. */
  #checkGap({ accepted }: Client, sequence: bigint): void {
    if (accepted === 0n) return
    const missing = sequence - accepted - 1n
    if (missing > GAP_PAGES)
      throw wrong(`page ${sequence} follows page ${accepted}`, `a gap of at most ${GAP_PAGES} pages`)
    this.#room.stats.missed(missing)
  }
}

/** The properties of a batch of an application that arrives now. */
function arrival() {
  return { origin: 'client', arrivedMs: performance.now() } as const
}
