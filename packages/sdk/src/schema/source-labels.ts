import type { SymbolTable } from './symbols.ts'
import type { TextIds } from './texts.ts'

/** A table that is not half empty when it begins is replaced once in so long at most. Unit: milliseconds. */
const REPLACE_APART_MS = 60_000

/** What an encoder asks for ids of texts that identify. */
export interface LabelIds extends TextIds {
  /** The id of a text that identifies; undefined if the table is full. */
  idOfLabel(text: string): number | undefined
}

/** The labels of a source as it reports them: one table at a time. */
export class SourceLabels implements LabelIds {
  /** What batches refer to. */
  table: SymbolTable
  tableIndex = 0
  readonly #make: () => SymbolTable
  /** Symbols of an empty table. */
  readonly #emptyCount: number
  /** Symbols that the table began with, and when it did. */
  #beganCount: number
  #beganMs = Number.NEGATIVE_INFINITY

  constructor(make: () => SymbolTable) {
    this.#make = make
    this.table = make()
    this.#emptyCount = this.table.count
    this.#beganCount = this.#emptyCount
  }

  idOfLabel(text: string): number | undefined {
    return this.table.idOfLabel(text)
  }

  id(text: string): number {
    return this.table.id(text)
  }

  /**
   * Whether a new table would have room: what a source must tell anew may take most of a table, and a table for each
   * new label would help nobody.
   */
  get isWorthReplacing(): boolean {
    const { count, countLimit } = this.table
    const mayFree = count - this.#beganCount
    return mayFree * 2 >= countLimit - this.#emptyCount || performance.now() - this.#beganMs >= REPLACE_APART_MS
  }

  /** Goes on with an empty table. */
  replace(): void {
    this.table = this.#make()
    this.tableIndex++
  }

  /** All that is known from the start has its symbols. */
  began(): void {
    this.#beganCount = this.table.count
    this.#beganMs = performance.now()
  }
}
