import type { Batch } from '../schema/batch.ts'
import { ENTRY_OVERHEAD_BYTES } from './queue.ts'

/** Splits a batch into pieces that fit a request, without copies. A record that is too large is a piece alone. */
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
