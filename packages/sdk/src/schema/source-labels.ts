import type { SymbolTable } from './symbols.ts'
import type { TextIds } from './texts.ts'

/** A table that is more than half full at its start is replaced at most once in this time. Unit: milliseconds. */
const REPLACE_APART_MS = 60_000

/** Assigns ids to the texts of labels, for an encoder. */
export interface LabelIds extends TextIds {
  /** The id of a label text; undefined if the table is full. */
  idOfLabel(text: string): number | undefined
}

/** The current symbol table of the labels of a source. */
export class SourceLabels implements LabelIds {
  /** The table of the next batches. */
  table: SymbolTable
  tableIndex = 0
  readonly #make: () => SymbolTable
  /** Number of symbols in an empty table. */
  readonly #emptyCount: number
  /** Number of symbols of the table at its start, and its start time. */
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
   * Whether a new table would help: the labels of all bound rows may fill most of a new table, and a new table for each
   * new label would be useless.
   */
  get isWorthReplacing(): boolean {
    const { count, countLimit } = this.table
    const mayFree = count - this.#beganCount
    return mayFree * 2 >= countLimit - this.#emptyCount || performance.now() - this.#beganMs >= REPLACE_APART_MS
  }

  /** Starts an empty table. */
  replace(): void {
    this.table = this.#make()
    this.tableIndex++
  }

  /** Marks the current symbols as the initial symbols of the table. */
  began(): void {
    this.#beganCount = this.table.count
    this.#beganMs = performance.now()
  }
}
