import { turn } from '../../internal/turn.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { TEXT_ID_MIN } from '../../schema/texts.ts'
import type { RowMemory } from './row-memory.ts'

/** Rows that are read between two looks at the clock. */
const ROWS_A_STEP = 64

/**
 * Copies of the labels that rows of a replaced source still use. Without the copies, the label table of each replaced
 * source would stay in memory until its last row is gone, and a client may replace many sources.
 */
export class KeptLabels implements Symbols {
  /** Copied labels are never announced. */
  readonly count = 0
  readonly #texts = new Map<number, string>()
  /** Rows that were read. */
  #read = 0

  text(id: number): string {
    return this.#texts.get(id) ?? `?${id}`
  }

  since(): readonly string[] {
    return []
  }

  /**
   * Takes the labels of rows from a table, as many as this turn of the event loop has room for. Whether it has all.
   *
   * @param rows By their numbers; below 0 if one has left.
   */
  takeFrom(labels: Symbols, type: RecordType, memory: RowMemory, rows: readonly number[]): boolean {
    const slots = type.labels.filter(({ field }) => field.kind === 'symbol')
    while (this.#read < rows.length) {
      if (this.#read % ROWS_A_STEP === 0 && this.#read > 0 && turn.isOver()) return false
      const row = rows[this.#read++] ?? -1
      if (row < 0) continue
      for (const { offset } of slots) {
        const id = memory.live.data.getUint32(memory.offsetOf(row) + offset, true)
        if (id < TEXT_ID_MIN) this.#texts.set(id, labels.text(id))
      }
    }
    return true
  }
}
