import type { RecordType } from '@sonde/sdk'
import { TEXT_ID_MIN } from '@sonde/sdk/internal'
import type { PageEntry } from '../protocol.ts'

/**
 * The labels that text fields of records refer to: a source that writes its records itself has one table for labels and
 * texts. Entries are of one type.
 */
export function textIdsIn(memory: SharedArrayBuffer, entries: readonly PageEntry[], { layout }: RecordType): number[] {
  const texts = layout.slots.filter(({ field }) => field.kind === 'symbol' && field.role !== 'label')
  if (texts.length === 0) return []
  const ids = new Set<number>()
  const data = new DataView(memory)
  for (const { offset, count } of entries)
    for (const slot of texts) {
      const first = offset + slot.offset
      const end = first + count * layout.recordBytes
      for (let at = first; at < end; at += layout.recordBytes) ids.add(data.getUint32(at, true))
    }
  return [...ids].filter((id) => id < TEXT_ID_MIN)
}
