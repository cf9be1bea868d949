import type { Batch } from '../schema/batch.ts'
import { ENTRY_OVERHEAD_BYTES } from './queue.ts'

/** A batch as pieces that each fit a request; nothing is copied. A record that fits none is a piece of its own. */
export function splitBatch(
  batch: Batch,
  limits: { readonly batchRecordsMax: number; readonly batchBytesMax: number },
): readonly Batch[] {
  const { count } = batch
  const { recordBytes } = batch.type.layout
  const fitting = Math.floor((limits.batchBytesMax - ENTRY_OVERHEAD_BYTES) / recordBytes)
  const piece = Math.max(1, Math.min(limits.batchRecordsMax, fitting))
  if (count <= piece) return count > 0 ? [batch] : []
  return Array.from({ length: Math.ceil(count / piece) }, (_, i) => {
    const from = i * piece
    const to = Math.min(count, from + piece)
    return { ...batch, count: to - from, bytes: batch.bytes.subarray(from * recordBytes, to * recordBytes) }
  })
}
