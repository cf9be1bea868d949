import type { Batch } from '../schema/batch.ts'
import type { RecordType } from '../schema/record-type.ts'
import { ColumnCopier } from './copy-columns.ts'
import type { FieldSet } from './fieldset.ts'
import { narrowType } from './narrow-type.ts'

/** The part of a batch that passes: all, some fields, or nothing (undefined). */
export type BatchProjection = (batch: Batch) => Batch | undefined

/**
 * Makes the projection of a type by a field set once, for all its batches. If only some fields pass, the batch gets a
 * narrower type with the same name. Bytes that are not `count` records pass as zero records, so that the sink counts
 * them.
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
