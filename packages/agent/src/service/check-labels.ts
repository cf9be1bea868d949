import type { BatchSymbols, RecordType, SourceInfo } from '@sonde/sdk'
import { SERIES_CHARACTERS_MAX } from '@sonde/sdk/internal'

/** The type and texts of the records of a page. */
export interface PageLabels {
  readonly type: RecordType
  readonly source: SourceInfo
  readonly symbols: BatchSymbols
  /** The longest text that the source announced. Unit: characters. */
  readonly longest: number
}

/**
 * Moves the records whose labels are not too long for a series to the front of a page; gives their number. Every view
 * writes out the labels of a new series, and a record of a kilobyte can name a megabyte of them.
 */
export function keepShortLabels({ type, source, symbols, longest }: PageLabels, bytes: Uint8Array): number {
  const { recordBytes } = type.layout
  const count = bytes.length / recordBytes
  const texts = type.labels.filter(({ field }) => field.kind === 'symbol').map(({ offset }) => offset)
  let fixed = 0
  for (const [name, text] of Object.entries(source.labels)) fixed += name.length + text.length
  for (const { name, field } of type.labels) fixed += name.length + (field.kind === 'char' ? field.count : 0)
  const room = SERIES_CHARACTERS_MAX - fixed
  if (texts.length * longest <= room) return count
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let kept = 0
  for (let at = 0; at < bytes.length; at += recordBytes) {
    let characters = 0
    for (const offset of texts) characters += symbols.text(view.getUint32(at + offset, true)).length
    if (characters > room) continue
    if (kept * recordBytes !== at) bytes.copyWithin(kept * recordBytes, at, at + recordBytes)
    kept++
  }
  return kept
}
