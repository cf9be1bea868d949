import type { SourceLabels } from './source-labels.ts'
import type { Symbols } from './symbols.ts'

/**
 * First id of the texts of text fields. Ids of labels are far below. All are small integers to V8, which keeps larger
 * ones as doubles.
 */
export const TEXT_ID_MIN = 2 ** 30
const TEXT_ID_END = 2 ** 31
/** Ids that a table may take: its limit, and one record of nothing but text. */
const TABLE_IDS_MAX = 1 << 24

/** Default of the texts that a source has at a time. */
export const TEXT_COUNT = 32_768
/** Memory of the texts that a source has at a time. Unit: bytes. */
const TEXT_BYTES = 4 << 20
/** What a text takes beside its characters. Unit: bytes. */
const ENTRY_BYTES = 48

/**
 * What the ids in the records of a batch mean: those of labels, which are for the life of the source, and those of text
 * fields, which are of one table. A source replaces that table when it is full; whoever keeps a batch keeps the table
 * with it. Ids rise from one table of a source to the next, and begin again after 2^30 texts: tables are told apart as
 * objects, and whoever is told of one is told that it begins.
 */
export interface BatchSymbols {
  /** The text of a label or of a text field; an id that was never announced reads as `?<id>`. */
  text(id: number): string
  /** Id of the first text of the table. */
  readonly firstTextId: number
  /** One more than the id of the last: the first again where there is none. */
  readonly nextTextId: number
  /** The texts from an id on, so many at most. Default of `countMax`: all. */
  textsFrom(id: number, countMax?: number): readonly string[]
  /** Memory of the texts. Unit: bytes. */
  readonly textBytes: number
}

/** A table of texts that grows at its end. */
export class TextTable implements BatchSymbols {
  readonly firstTextId: number
  textBytes = 0
  readonly #labels: Pick<Symbols, 'text'>
  readonly #texts: string[] = []

  /** @param labels The source's own table, for all ids below. */
  constructor(labels: Pick<Symbols, 'text'>, firstTextId = TEXT_ID_MIN) {
    this.#labels = labels
    this.firstTextId = firstTextId
  }

  get nextTextId(): number {
    return this.firstTextId + this.#texts.length
  }

  text(id: number): string {
    return id < this.firstTextId ? this.#labels.text(id) : (this.#texts[id - this.firstTextId] ?? `?${id}`)
  }

  textsFrom(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    const from = id - this.firstTextId
    return this.#texts.slice(from, from + countMax)
  }

  /** Adds a text at the end; gives its id. */
  add(text: string): number {
    this.textBytes += textBytes(text)
    return this.firstTextId + this.#texts.push(text) - 1
  }
}

/** Memory of one text. Unit: bytes. */
export function textBytes(text: string): number {
  return ENTRY_BYTES + 2 * text.length
}

/** What an encoder asks for ids of texts that do not identify. */
export interface TextIds {
  /**
   * Rises when ids that were given before, of texts or of labels, must not be used any more. Ids of tables begin again
   * some day; this does not.
   */
  readonly tableIndex: number
  id(text: string): number
}

/** The texts of a source as it reports them: one table at a time. */
export class SourceTexts implements TextIds {
  /** What batches of records with text refer to. */
  table: TextTable
  /** Whether the table must be replaced before the next record. A record under way may still add its texts. */
  isFull = false
  tableIndex = 0
  readonly #labels: Pick<SourceLabels, 'table'>
  readonly #countLimit: number
  readonly #ids = new Map<string, number>()

  /** @param countLimit Texts from which on the table is full. */
  constructor(labels: Pick<SourceLabels, 'table'>, countLimit: number) {
    this.#labels = labels
    this.#countLimit = countLimit
    this.table = new TextTable(labels.table)
  }

  /** The id of a text. Text beyond 4096 characters is cut, and counted in `cut` of the labels. */
  id(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    if (text === '') return 0
    const kept = this.#labels.table.shortened(text)
    if (kept !== text) return this.id(kept)
    const id = this.table.add(text)
    this.#ids.set(text, id)
    this.isFull = this.#ids.size >= this.#countLimit || this.table.textBytes >= TEXT_BYTES
    return id
  }

  /**
   * Goes on with an empty table, and with the labels as they are now. Records that are not emitted yet would refer to
   * the wrong ones.
   */
  replace(): void {
    const next = this.table.nextTextId
    this.table = new TextTable(this.#labels.table, next + TABLE_IDS_MAX < TEXT_ID_END ? next : TEXT_ID_MIN)
    this.tableIndex++
    this.#ids.clear()
    this.isFull = false
  }
}

/**
 * Counts the memory of texts that a queue of batches keeps: those of a table once, with the batch that brought them.
 */
export class KeptTexts {
  readonly #counted = new WeakMap<BatchSymbols, number>()

  /** Memory of the texts that came since the last batch of the table. Unit: bytes. */
  bytesOf({ symbols }: { readonly symbols: BatchSymbols }): number {
    const { textBytes } = symbols
    if (textBytes === 0) return 0
    const counted = this.#counted.get(symbols) ?? 0
    if (textBytes > counted) this.#counted.set(symbols, textBytes)
    return Math.max(0, textBytes - counted)
  }
}
