import type { Batch } from '../schema/batch.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { ColumnCopier } from './copy-columns.ts'
import type { FieldSet } from './fieldset.ts'
import type { LabelChanges } from './label-changes.ts'
import { narrowType } from './narrow-type.ts'

/** The part of a batch that passes: all, some fields, or nothing (undefined). */
export type BatchProjection = (batch: Batch) => Batch | undefined

/** What a destination gets of a type. */
export interface Projected {
  /** The fields that pass. Default: all. */
  readonly set?: FieldSet | undefined
  /** How labels change. Default: not at all. */
  readonly labels?: LabelChanges | undefined
}

/**
 * Makes the projection of a type once, for all its batches. If only some fields pass, or labels change, the batch gets
 * another type with the same name. Bytes that are not `count` records pass as zero records, so that the sink counts
 * them.
 */
export function batchProjection(type: RecordType, { set, labels }: Projected): BatchProjection {
  const chosen = set?.of(type)
  if (chosen?.slots.length === 0) return () => undefined
  const isDropped = (slot: Slot) => labels?.drops(type, slot) ?? false
  const has = (slot: Slot) => (chosen?.has(slot) ?? true) && !isDropped(slot)
  const { slots } = type.layout
  // An entity without its labels is none.
  const given = slots.some(isDropped) ? { ...type, entity: undefined } : type
  const narrow = slots.every(has) ? type : narrowType(given, has)
  const renamed = labels?.renamed(narrow) ?? narrow
  const project = narrow === type ? (batch: Batch) => batch : copied(type, narrow)
  if (renamed === type && labels === undefined) return project
  return (batch) => {
    const source = labels?.sourceOf(batch.source) ?? batch.source
    return { ...project(batch), type: renamed, source }
  }
}

function copied(type: RecordType, narrow: RecordType): (batch: Batch) => Batch {
  const copier = new ColumnCopier(type.layout, narrow.layout)
  const { recordBytes } = type.layout
  return (batch) => {
    const { bytes, count } = batch
    const isSound = bytes.byteLength === count * recordBytes
    const copy = isSound ? copier.copy(bytes, count) : new Uint8Array(0)
    return { ...batch, type: narrow, bytes: copy, checksum: undefined }
  }
}
