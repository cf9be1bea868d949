import type { Batch, SourceInfo } from '@sonde/sdk'
import { SymbolTable, TextTable } from '@sonde/sdk/internal'

/** Most texts of a source in a copy. Policy: further texts are `…`. */
const TEXTS_MAX = 1_000_000

interface CopiedSource {
  readonly source: SourceInfo
  readonly symbols: SymbolTable
}

/**
 * The sources of batches of a history. Each such batch has a source and texts of its own. A copy has one of each
 * source, so that its batches share files.
 */
export class CopiedSources {
  readonly #sources = new Map<string, CopiedSource>()

  /** A copy of a batch with the texts of its source. */
  of(batch: Batch): Batch {
    const { source, symbols } = this.#sourceOf(batch.source)
    const { type, count } = batch
    const bytes = batch.bytes.slice()
    const view = new DataView(bytes.buffer)
    const texts = type.layout.slots.filter(({ field }) => field.kind === 'symbol').map(({ offset }) => offset)
    for (let at = 0; at < count * type.layout.recordBytes; at += type.layout.recordBytes)
      for (const offset of texts) {
        const text = batch.symbols.text(view.getUint32(at + offset, true))
        view.setUint32(at + offset, symbols.id(text), true)
      }
    return { ...batch, source, bytes, symbols: new TextTable(symbols) }
  }

  #sourceOf(source: SourceInfo): CopiedSource {
    const { id, tag, labels } = source
    const key = JSON.stringify([id, tag, Object.entries(labels).sort()])
    let known = this.#sources.get(key)
    if (known === undefined) {
      const symbols = new SymbolTable(TEXTS_MAX)
      known = { source: { ...source, symbols }, symbols }
      this.#sources.set(key, known)
    }
    return known
  }
}
