import type { DatabaseSync } from 'node:sqlite'
import { TEXT_ID_MIN } from '@sonde/sdk/internal'

/** Number of texts that are read at a time: records refer to texts that arrived together. */
const BLOCK_IDS = 4096
/** Number of cached blocks of all writers. */
const BLOCK_COUNT_LIMIT = 32

/** A table of texts of an active writer. */
interface Table {
  readonly firstId: number
  /** The last row of the head that may refer to it; undefined for the current table. */
  lastRow?: number
}

/**
 * Texts of text fields in the file. A replaced table is deleted with the last row of the head that refers to it.
 */
export class StoredTexts {
  readonly #database: DatabaseSync
  /** Texts by id; the block that was read longest ago is first. */
  readonly #blocks = new Map<string, Map<number, string>>()
  /** By writer, in order of arrival. */
  readonly #tables = new Map<number, Table[]>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** The text of an id; undefined if the file has none. */
  of(writer: number, id: number): string | undefined {
    const first = id - (id % BLOCK_IDS)
    const key = `${writer} ${first}`
    let block = this.#blocks.get(key)
    if (block === undefined) {
      block = this.#read(writer, first)
      for (const oldest of this.#blocks.keys()) {
        if (this.#blocks.size < BLOCK_COUNT_LIMIT) break
        this.#blocks.delete(oldest)
      }
      this.#blocks.set(key, block)
    }
    return block.get(id)
  }

  /** Stores texts of a writer in its current table; without texts, begins a new table. */
  add(writer: number, from: number, texts: readonly string[]): void {
    if (texts.length === 0) this.#begin(writer, from)
    const insert = this.#database.prepare('INSERT OR REPLACE INTO symbol VALUES (?, ?, ?)')
    for (const [index, text] of texts.entries()) insert.run(writer, from + index, text)
    for (let id = from - (from % BLOCK_IDS); id < from + texts.length; id += BLOCK_IDS) {
      this.#blocks.delete(`${writer} ${id}`)
    }
  }

  /** The page of the announced texts is written: no later page refers to a table that was replaced by then. */
  pageWritten(): void {
    for (const tables of this.#tables.values()) {
      for (const table of tables.slice(0, -1)) table.lastRow ??= this.#lastRow()
    }
  }

  /** A writer has ended: its texts are deleted with it. */
  retire(writer: number): void {
    this.#tables.delete(writer)
  }

  /** Deletes the replaced tables that no row of the head refers to. */
  deleteUnused(): void {
    const grown = [...this.#tables].filter(([, tables]) => tables.length > 1)
    if (grown.length === 0) return
    const rows = this.#database.prepare('SELECT writer, min(id) AS first FROM head GROUP BY writer').all()
    const firstRows = new Map(rows.map(({ writer, first }) => [Number(writer), Number(first)]))
    const remove = this.#database.prepare('DELETE FROM symbol WHERE writer = ? AND id >= ? AND id < ?')
    for (const [writer, tables] of grown) {
      const firstRow = firstRows.get(writer) ?? Number.POSITIVE_INFINITY
      const used = tables.filter(({ lastRow }) => lastRow === undefined || lastRow >= firstRow)
      if (used.length === tables.length) continue
      this.#tables.set(writer, used)
      remove.run(writer, TEXT_ID_MIN, Math.min(...used.map(({ firstId }) => firstId)))
      this.forget()
    }
  }

  /** Cached texts may be outdated. */
  forget(): void {
    this.#blocks.clear()
  }

  #begin(writer: number, firstId: number): void {
    const tables = this.#tables.get(writer)
    if (tables === undefined) this.#tables.set(writer, [{ firstId }])
    else tables.push({ firstId })
  }

  #lastRow(): number {
    return Number(this.#database.prepare('SELECT max(id) AS last FROM head').get()?.last ?? 0)
  }

  #read(writer: number, first: number): Map<number, string> {
    const rows = this.#database.prepare('SELECT id, text FROM symbol WHERE writer = ? AND id >= ? AND id < ?')
    const block = new Map<number, string>()
    for (const { id, text } of rows.iterate(writer, first, first + BLOCK_IDS)) block.set(Number(id), String(text))
    return block
  }
}
