import type { SourceLabels } from './source-labels.ts'
import type { Symbols } from './symbols.ts'

/**
 * First id of the texts of text fields. Ids of labels are far below. All ids are small integers to V8; it stores larger
 * integers as doubles.
 */
export const TEXT_ID_MIN = 2 ** 30
const TEXT_ID_END = 2 ** 31
/** Ids of a table: its limit, and one more record with only text. */
const TABLE_IDS_MAX = 1 << 24

/** Default limit of the texts of a table. */
export const TEXT_COUNT = 32_768
/** Memory limit of the texts of a table. Unit: bytes. */
const TEXT_BYTES = 4 << 20
/** Memory of a text beside its characters. Unit: bytes. */
const ENTRY_BYTES = 48

/**
 * The texts of the ids in the records of a batch. Ids of labels are valid for the life of the source; ids of text
 * fields belong to one table. A source replaces a full table; a receiver that keeps a batch keeps its table. Ids rise
 * from one table of a source to the next and restart after 2^30 texts. Therefore tables are compared as objects, and a
 * writer announces the start of each table.
 */
export interface BatchSymbols {
  /** The text of a label or of a text field; an id that was never announced reads as `?<id>`. */
  text(id: number): string
  /** Id of the first text of the table. */
  readonly firstTextId: number
  /** One more than the last id; the first id if the table is empty. */
  readonly nextTextId: number
  /** The texts from an id on, at most `countMax`. Default: all. */
  textsFrom(id: number, countMax?: number): readonly string[]
  /** Memory of the texts. Unit: bytes. */
  readonly textBytes: number
}

/** An append-only table of texts. */
export class TextTable implements BatchSymbols {
  readonly firstTextId: number
  textBytes = 0
  readonly #labels: Pick<Symbols, 'text'>
  readonly #texts: string[] = []

  /** @param labels The label table of the source, for all lower ids. */
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

  /** Appends a text; returns its id. */
  add(text: string): number {
    this.textBytes += textBytes(text)
    return this.firstTextId + this.#texts.push(text) - 1
  }
}

/** Memory of one text. Unit: bytes. */
export function textBytes(text: string): number {
  return ENTRY_BYTES + 2 * text.length
}

/** Assigns ids to the texts of text fields, for an encoder. */
export interface TextIds {
  /**
   * Rises when earlier ids of texts or labels become invalid. Ids restart after 2^30 texts; this number does not.
   */
  readonly tableIndex: number
  id(text: string): number
}

/** The current table of texts of a source. */
export class SourceTexts implements TextIds {
  /** The table of the next batches with text. */
  table: TextTable
  /** Whether the table must be replaced before the next record. The current record may still add texts. */
  isFull = false
  tableIndex = 0
  readonly #labels: Pick<SourceLabels, 'table'>
  readonly #countLimit: number
  readonly #ids = new Map<string, number>()

  /** @param countLimit The number of texts at which the table is full. */
  constructor(labels: Pick<SourceLabels, 'table'>, countLimit: number) {
    this.#labels = labels
    this.#countLimit = countLimit
    this.table = new TextTable(labels.table)
  }

  /** The id of a text. Text beyond 4096 characters is cut and counted in `cut` of the labels. */
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
   * Starts an empty table over the current labels. Call it without buffered records: these use the old table.
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
 * Counts the memory of the texts of queued batches. Each text counts once, with the first batch after it was added.
 */
export class KeptTexts {
  readonly #counted = new WeakMap<BatchSymbols, number>()

  /** Memory of the texts added since the last batch of the table. Unit: bytes. */
  bytesOf({ symbols }: { readonly symbols: BatchSymbols }): number {
    const { textBytes } = symbols
    if (textBytes === 0) return 0
    const counted = this.#counted.get(symbols) ?? 0
    if (textBytes > counted) this.#counted.set(symbols, textBytes)
    return Math.max(0, textBytes - counted)
  }
}
