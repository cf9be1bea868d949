import type { Symbols } from '../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../schema/texts.ts'
import { SYMBOLS_AT_ONCE, type SymbolsItem } from './item.ts'

/** What the other end was told of a source. */
export class ToldSource {
  /** What batches call it. */
  readonly key: number
  /** Labels that were told: those below this id. */
  labels = 0
  /** The table of texts that is told, up to which id, and what it takes. */
  table: BatchSymbols | undefined
  nextTextId = 0
  textBytes = 0
  /** What the other end keeps of it, texts included. Unit: bytes. */
  bytes: number

  /** @param bytes What the other end keeps of the source without labels and texts. */
  constructor(key: number, bytes = 0) {
    this.key = key
    this.bytes = bytes
  }

  /** The labels that are told next, so many at most. */
  nextLabels(symbols: Symbols, countMax = Number.POSITIVE_INFINITY): SymbolsItem {
    const texts = symbols.since(this.labels, Math.min(SYMBOLS_AT_ONCE, countMax))
    return { kind: 'symbols', source: this.key, firstId: this.labels, texts }
  }

  /** They are told, and take so much memory. Unit: bytes. */
  toldLabels({ texts }: SymbolsItem, bytes = 0): void {
    this.labels += texts.length
    this.bytes += bytes
  }

  /** A table of texts takes the place of the one that was told. Default of `firstId`: there is none for now. */
  begin(firstId?: number): SymbolsItem {
    this.table = undefined
    this.nextTextId = firstId ?? TEXT_ID_MIN
    this.bytes -= this.textBytes
    this.textBytes = 0
    return { kind: 'symbols', source: this.key, firstId: this.nextTextId, texts: [] }
  }

  /** The texts that are told next of the table, so many at most. */
  nextTexts(table: BatchSymbols, countMax = SYMBOLS_AT_ONCE): SymbolsItem {
    const texts = table.textsFrom(this.nextTextId, countMax)
    return { kind: 'symbols', source: this.key, firstId: this.nextTextId, texts }
  }

  /** All labels that are not told yet, so many an item. They are taken to be told. */
  *labelItems(symbols: Symbols, countMax = SYMBOLS_AT_ONCE): Generator<SymbolsItem> {
    while (this.labels < symbols.count) {
      const item = this.nextLabels(symbols, countMax)
      this.toldLabels(item)
      yield item
    }
  }

  /** All texts of a table that are not told yet, so many an item. They are taken to be told. */
  *textItems(table: BatchSymbols, countMax = SYMBOLS_AT_ONCE): Generator<SymbolsItem> {
    if (table.nextTextId === table.firstTextId) return
    if (table !== this.table) yield this.begin(table.firstTextId)
    this.table = table
    while (this.nextTextId < table.nextTextId) {
      const item = this.nextTexts(table, countMax)
      this.toldTexts(item)
      yield item
    }
  }

  /** The other end is another, which knows nothing. */
  forget(): void {
    this.labels = 0
    this.begin()
  }

  /** They are told, and take so much memory. Unit: bytes. */
  toldTexts({ texts }: SymbolsItem, bytes = 0): void {
    this.nextTextId += texts.length
    this.textBytes += bytes
    this.bytes += bytes
  }
}
