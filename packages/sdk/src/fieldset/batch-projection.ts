import type { Batch } from '../schema/batch.ts'
import type { RecordType } from '../schema/record-type.ts'
import { ColumnCopier } from './copy-columns.ts'
import type { FieldSet } from './fieldset.ts'
import { narrowType } from './narrow-type.ts'

/** What of the batches of a type passes: all of it, a part, or nothing, which is undefined. */
export type BatchProjection = (batch: Batch) => Batch | undefined

/**
 * The projection of a type by a field set: made once, and applied to each of its batches. A batch that passes in part
 * has a narrower type of the same name; bytes that are not `count` records pass as none, for the sink to count.
 */
export function batchProjection(type: RecordType, set: FieldSet): BatchProjection {
  const { slots, isWhole, has } = set.of(type)
  if (slots.length === 0) return () => undefined
  if (isWhole) return (batch) => batch
  const narrow = narrowType(type, has)
  const copier = new ColumnCopier(type.layout, narrow.layout)
  const { recordBytes } = type.layout
  return (batch) => {
    const { bytes, count } = batch
    const isSound = bytes.byteLength === count * recordBytes
    const copied = isSound ? copier.copy(bytes, count) : new Uint8Array(0)
    return { ...batch, type: narrow, bytes: copied, checksum: undefined }
  }
}
