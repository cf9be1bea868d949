import type { Batch } from '../../schema/batch.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { TEXT_ID_MIN } from '../../schema/texts.ts'

/** Limit of texts of one source; above it, its rows are removed and start again. */
const COUNT_LIMIT = 16_384

/** The text fields of a declared type that are indexes in the type that is shown. */
export function textIndexesOf(declared: RecordType, shown: RecordType): readonly Slot[] {
  return shown.labels.filter(({ field, index }) => {
    return field.kind === 'symbol' && declared.layout.slots[index]?.field.role !== 'label'
  })
}

/**
 * Stable ids for the texts of indexes. When a source replaces its table of texts, a text gets another id; rows are
 * found by the ids of this table, which stay the same.
 */
export class IndexTexts {
  #labels: Pick<Symbols, 'text'>
  readonly #texts: string[] = []
  readonly #ids = new Map<string, number>()

  constructor(labels: Pick<Symbols, 'text'>) {
    this.#labels = labels
  }

  /** Labels have their texts from here now. */
  readLabelsOf(labels: Pick<Symbols, 'text'>): void {
    this.#labels = labels
  }

  get isFull(): boolean {
    return this.#texts.length >= COUNT_LIMIT
  }

  /** The text of an id in a record that `translated` gave, or in a label of the source. */
  text(id: number): string {
    return id < TEXT_ID_MIN ? this.#labels.text(id) : (this.#texts[id - TEXT_ID_MIN] ?? `?${id}`)
  }

  /** A copy of a batch in which the fields at `slots` have ids of this table. */
  translated(batch: Batch, slots: readonly Slot[]): Batch {
    const bytes = batch.bytes.slice()
    const data = new DataView(bytes.buffer)
    const { recordBytes } = batch.type.layout
    for (const { offset } of slots) {
      for (let record = 0, at = offset; record < batch.count; record++, at += recordBytes) {
        const id = data.getUint32(at, true)
        if (id >= TEXT_ID_MIN) data.setUint32(at, this.#idOf(batch.symbols.text(id)), true)
      }
    }
    return { ...batch, bytes }
  }

  #idOf(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const id = TEXT_ID_MIN + this.#texts.push(text) - 1
    this.#ids.set(text, id)
    return id
  }
}
