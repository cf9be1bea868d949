import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { BatchSymbols, SourceInfo } from '@sonde/sdk'
import { Quota, type QuotaHolder, SYMBOLS_OF_SOURCE, type SymbolsItem, TEXT_ID_MIN } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import type { SourceDescriptor } from '../protocol.ts'
import { symbolsOf } from '../texts.ts'
import { SeriesResolver } from './series-resolver.ts'
import type { StoreCatalogue, StoredType } from './store-catalogue.ts'
import { StoredTexts } from './stored-texts.ts'

/** The part of the file that labels of writers may take; each writer has its own labels. */
const LABELS_PART = 1 / 8
/** Size of a label's row besides its text. Unit: bytes. */
const LABEL_ROW_BYTES = 16
/** Number of earlier writers that stay in memory. */
const IDLE_COUNT_LIMIT = 64

/** The writer of rows of the head: a source during one life of its process, with its labels. */
export interface StoredWriter {
  readonly id: number
  /** Id of its source. */
  readonly source: number
  readonly info: SourceInfo
  readonly texts: string[]
  /** Ids of its texts in the file. */
  readonly stored: Set<number>
  /** Symbols of its records: labels, and the texts in the file. */
  readonly symbols: Pick<BatchSymbols, 'text'>
  readonly resolvers: Map<number, SeriesResolver>
}

/** Writers of the head. Active writers are kept in memory; others are read with their rows. */
export class Writers {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #insertSymbol: StatementSync
  readonly #catalogue: StoreCatalogue
  readonly #live = new Map<number, StoredWriter>()
  readonly #idle = new Map<number, StoredWriter>()
  /** Of text fields. */
  readonly #texts: StoredTexts
  /** Size of the labels of writers since the file was opened, by holder. Unit: bytes. */
  readonly #labelQuota: Quota
  readonly #labels = new Map<number, { readonly holder: QuotaHolder; bytes: number }>()

  constructor(database: DatabaseSync, catalogue: StoreCatalogue, { maxBytes }: Pick<StoreSettings, 'maxBytes'>) {
    this.#labelQuota = new Quota(maxBytes * LABELS_PART)
    this.#database = database
    this.#insert = database.prepare('INSERT INTO writer (source) VALUES (?)')
    this.#insertSymbol = database.prepare('INSERT OR REPLACE INTO symbol VALUES (?, ?, ?)')
    this.#catalogue = catalogue
    this.#texts = new StoredTexts(database)
  }

  /** Number of writers in memory. */
  get counts(): Readonly<Record<string, number>> {
    return { writers: this.#live.size, earlierWriters: this.#idle.size }
  }

  /** Stores a new writer; undefined if there are already too many sources. */
  add(descriptor: SourceDescriptor, holder: QuotaHolder): StoredWriter | undefined {
    const source = this.#catalogue.sourceId(descriptor, holder)
    if (source === undefined) return undefined
    const { lastInsertRowid } = this.#insert.run(source)
    const writer = this.#writerOf(Number(lastInsertRowid), source, descriptor, [])
    this.#live.set(writer.id, writer)
    this.#labels.set(writer.id, { holder, bytes: 0 })
    return writer
  }

  /** See {@link StoredTexts.pageWritten}. */
  pageWritten(): void {
    this.#texts.pageWritten()
  }

  /**
   * Keeps new labels of a writer's table, and stores texts of its text fields. The first label is stored too, because
   * records without a text refer to it.
   */
  addSymbols(writer: StoredWriter, { firstId, texts }: SymbolsItem): void {
    if (firstId >= TEXT_ID_MIN) {
      this.#texts.add(writer.id, firstId, texts)
      return
    }
    for (const [index, text] of texts.entries()) writer.texts[firstId + index] = text
    const storedEnd = Math.min(firstId + texts.length, SYMBOLS_OF_SOURCE)
    for (let id = firstId; id < storedEnd; id++) this.storeSymbols(writer, [id])
  }

  /**
   * Stores labels that records refer to; other entries of a table need no row. False if the limit is reached.
   */
  storeSymbols({ id: writer, texts, stored }: StoredWriter, ids: readonly number[]): boolean {
    const labels = this.#labels.get(writer)
    if (labels === undefined) return false
    for (const id of ids) {
      const text = texts[id]
      if (text === undefined || stored.has(id)) continue
      const bytes = LABEL_ROW_BYTES + Buffer.byteLength(text)
      if (text !== '' && this.#labelQuota.roomFor(labels.holder) < bytes) return false
      this.#insertSymbol.run(writer, id, text)
      stored.add(id)
      labels.bytes += bytes
      this.#labelQuota.add(labels.holder, bytes)
    }
    return true
  }

  /** A writer has ended. */
  retire(writer: StoredWriter): void {
    this.#live.delete(writer.id)
    this.#texts.retire(writer.id)
  }

  /** A writer by its id; undefined if its row was lost. */
  of(id: number): StoredWriter | undefined {
    const known = this.#live.get(id) ?? this.#idle.get(id)
    if (known !== undefined) return known
    const row = this.#database.prepare('SELECT source FROM writer WHERE id = ?').get(id)
    const source = Number(row?.source)
    const descriptor = this.#catalogue.source(source)
    if (descriptor === undefined) return undefined
    const texts: string[] = []
    const labels = this.#database.prepare('SELECT id, text FROM symbol WHERE writer = ? AND id < ?')
    for (const symbol of labels.iterate(id, TEXT_ID_MIN)) {
      texts[Number(symbol.id)] = String(symbol.text)
    }
    const writer = this.#writerOf(id, source, descriptor, texts)
    if (this.#idle.size >= IDLE_COUNT_LIMIT) this.#idle.clear()
    this.#idle.set(id, writer)
    return writer
  }

  /** The resolver for the series of a writer's records of a type. */
  resolver(writer: StoredWriter, stored: StoredType): SeriesResolver {
    let resolver = writer.resolvers.get(stored.id)
    if (resolver === undefined) {
      resolver = new SeriesResolver(stored, writer.info)
      writer.resolvers.set(stored.id, resolver)
    }
    return resolver
  }

  /** Another process writes the file: the cached writers may have new texts. */
  forgetIdle(): void {
    this.#idle.clear()
    this.#texts.forget()
  }

  /** Series and types were deleted, so the resolvers are reset. */
  forgetSeries(): void {
    for (const writer of [...this.#live.values(), ...this.#idle.values()]) writer.resolvers.clear()
  }

  /** Deletes the writers that have ended and have no row in the head. */
  deleteUnused(): void {
    this.#texts.deleteUnused()
    const unused = this.#database.prepare('SELECT id FROM writer WHERE id NOT IN (SELECT writer FROM head)').all()
    const [deleteWriter, deleteSymbols] = ['writer WHERE id', 'symbol WHERE writer'].map((rows) =>
      this.#database.prepare(`DELETE FROM ${rows} = ?`),
    )
    for (const id of unused.map((row) => Number(row.id))) {
      if (this.#live.has(id)) continue
      deleteWriter?.run(id)
      deleteSymbols?.run(id)
      const labels = this.#labels.get(id)
      if (labels !== undefined) this.#labelQuota.add(labels.holder, -labels.bytes)
      this.#labels.delete(id)
      this.#idle.delete(id)
    }
    // The ids of writers may be reused.
    if (unused.length > 0) this.#texts.forget()
  }

  #writerOf(id: number, source: number, descriptor: SourceDescriptor, texts: string[]): StoredWriter {
    const labels = symbolsOf(texts)
    const text = (symbol: number) =>
      symbol < TEXT_ID_MIN ? labels.text(symbol) : (this.#texts.of(id, symbol) ?? `?${symbol}`)
    return {
      id,
      source,
      texts,
      stored: new Set(),
      symbols: { text },
      resolvers: new Map(),
      info: { ...descriptor, symbols: labels },
    }
  }
}
