import type { Batch } from '../schema/batch.ts'
import { SeriesIndex } from '../schema/series-index.ts'
import { viewsOf } from '../schema/views.ts'

/** Rows of the first allocation. */
const ROWS_MIN = 16
const NONE = new Uint8Array(0)

/** The last record of each series of one type from one source, since they were last taken. */
export class LastRecords {
  #bytes = new Uint8Array(0)
  #index: SeriesIndex | undefined
  /** The newest batch, without its bytes. */
  #newest: Batch | undefined

  /** Number of held records: one for each series. */
  get count(): number {
    return this.#index?.count ?? 0
  }

  /** Size of these records. Unit: bytes. */
  get heldBytes(): number {
    return this.count * (this.#newest?.type.layout.recordBytes ?? 0)
  }

  /** Whether the held records can be one batch with these: they have the same clock, and the same table of texts. */
  fits({ clock, symbols }: Batch): boolean {
    return this.#newest === undefined || (this.#newest.clock === clock && this.#newest.symbols === symbols)
  }

  /** Keeps the records of a batch that fits; of each series only the last. Returns how many others it let go. */
  put(batch: Batch): number {
    const { type, bytes, count } = batch
    const { recordBytes } = type.layout
    const views = viewsOf(bytes)
    this.#index ??= new SeriesIndex(type)
    const before = this.#index.count
    for (let at = 0; at < bytes.byteLength; at += recordBytes) {
      const place = this.#index.of(views, at) * recordBytes
      if (place >= this.#bytes.byteLength) this.#grow(recordBytes)
      this.#bytes.set(bytes.subarray(at, at + recordBytes), place)
    }
    this.#newest = { ...batch, bytes: NONE }
    return count - (this.#index.count - before)
  }

  /** Takes the held records as one batch, valid until the next `put`; undefined if there are none. */
  take(): Batch | undefined {
    const { count } = this
    const newest = this.#newest
    if (newest === undefined || count === 0) return undefined
    this.#index = undefined
    this.#newest = undefined
    const { page: _page, checksum: _checksum, ...rest } = newest
    return { ...rest, count, bytes: this.#bytes.subarray(0, count * newest.type.layout.recordBytes) }
  }

  #grow(recordBytes: number): void {
    const larger = new Uint8Array(Math.max(ROWS_MIN * recordBytes, this.#bytes.byteLength * 2))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
