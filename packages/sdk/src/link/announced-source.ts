import type { Symbols } from '../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../schema/texts.ts'
import { SYMBOLS_AT_ONCE, type SymbolsItem } from './item.ts'

/** How much of a source the writer has announced. */
export class AnnouncedSource {
  /** Its number in batches. */
  readonly key: number
  /** Labels below this id are announced. */
  labels = 0
  /** The announced table of texts, the end of its announced ids, and its memory at the reader. */
  table: BatchSymbols | undefined
  nextTextId = 0
  textBytes = 0
  /** Memory at the reader, texts included. Unit: bytes. */
  bytes: number

  /** @param bytes Memory at the reader without labels and texts. */
  constructor(key: number, bytes = 0) {
    this.key = key
    this.bytes = bytes
  }

  /** The next labels to announce, at most `countMax`. */
  nextLabels(symbols: Symbols, countMax = Number.POSITIVE_INFINITY): SymbolsItem {
    const texts = symbols.since(this.labels, Math.min(SYMBOLS_AT_ONCE, countMax))
    return { kind: 'symbols', source: this.key, firstId: this.labels, texts }
  }

  /** Notes that labels are announced, and their memory. Unit: bytes. */
  noteLabels({ texts }: SymbolsItem, bytes = 0): void {
    this.labels += texts.length
    this.bytes += bytes
  }

  /** Starts a new table of texts in place of the announced table. Default of `firstId`: no table for now. */
  begin(firstId?: number): SymbolsItem {
    this.table = undefined
    this.nextTextId = firstId ?? TEXT_ID_MIN
    this.bytes -= this.textBytes
    this.textBytes = 0
    return { kind: 'symbols', source: this.key, firstId: this.nextTextId, texts: [] }
  }

  /** The next texts of the table to announce, at most `countMax`. */
  nextTexts(table: BatchSymbols, countMax = SYMBOLS_AT_ONCE): SymbolsItem {
    const texts = table.textsFrom(this.nextTextId, countMax)
    return { kind: 'symbols', source: this.key, firstId: this.nextTextId, texts }
  }

  /** All labels that are not announced yet, `countMax` an item; notes them as announced. */
  *labelItems(symbols: Symbols, countMax = SYMBOLS_AT_ONCE): Generator<SymbolsItem> {
    while (this.labels < symbols.count) {
      const item = this.nextLabels(symbols, countMax)
      this.noteLabels(item)
      yield item
    }
  }

  /** All texts of a table that are not announced yet, `countMax` an item; notes them as announced. */
  *textItems(table: BatchSymbols, countMax = SYMBOLS_AT_ONCE): Generator<SymbolsItem> {
    if (table.nextTextId === table.firstTextId) return
    if (table !== this.table) yield this.begin(table.firstTextId)
    this.table = table
    while (this.nextTextId < table.nextTextId) {
      const item = this.nextTexts(table, countMax)
      this.noteTexts(item)
      yield item
    }
  }

  /** The reader is new and knows nothing. */
  forget(): void {
    this.labels = 0
    this.begin()
  }

  /** Notes that texts are announced, and their memory. Unit: bytes. */
  noteTexts({ texts }: SymbolsItem, bytes = 0): void {
    this.nextTextId += texts.length
    this.textBytes += bytes
    this.bytes += bytes
  }
}
