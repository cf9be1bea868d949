import type { Batch } from '@sonde/sdk'
import { type Symbols, TextTable, typeOfDefinition } from '@sonde/sdk/internal'
import type { StoredBatch } from './protocol.ts'

/** Symbols over a list of texts that may still grow. */
export function symbolsOf(texts: readonly string[]): Symbols {
  return {
    text: (id) => texts[id] ?? `?${id}`,
    since: (id) => texts.slice(id),
    get count() {
      return texts.length
    },
  }
}

/** Stored records as a batch. */
export function batchOf({ type, source, clock, texts, count, bytes }: StoredBatch): Batch {
  const symbols = symbolsOf(texts)
  const batch = { type: typeOfDefinition(type), source: { ...source, symbols }, clock, count, bytes }
  return { ...batch, symbols: new TextTable(symbols), origin: 'replay', arrivedMs: performance.now() }
}
