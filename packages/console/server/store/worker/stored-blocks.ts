import type { RecordType } from '@sonde/sdk'
import { type Clock, keyOfNumber } from '@sonde/sdk/internal'
import type { SourceDescriptor, StoredBatch } from '../protocol.ts'
import type { HeadRow } from './head-rows.ts'
import { readCompacted } from './read-compacted.ts'
import { RAW } from './segments.ts'
import type { StoredType } from './store-catalogue.ts'
import type { StoreFile } from './store-file.ts'
import type { StoredWriter } from './writers.ts'

/**
 * The records of one source, type and clock in one hour: the latest are in the head, the others in segments.
 */
export interface StoredUnit {
  readonly slot: number
  readonly type: number
  readonly source: number
  readonly clock: Clock
}

/** Description of stored records of one source and type before they are read. */
export interface StoredBlock {
  readonly type: RecordType
  readonly source: SourceDescriptor
  readonly clock: Clock
  readonly count: number
  /**
   * Time of the earliest and of the latest record, or their arrival if the type has no timestamp. Unit: milliseconds
   * since the Unix epoch.
   */
  readonly firstMs: number
  readonly lastMs: number
}

/** Types and a time span of stored records: `(fromMs, toMs]`. Unit: milliseconds since the Unix epoch. */
export interface UnitsWanted {
  readonly types: readonly number[]
  readonly fromMs: number
  readonly toMs: number
}

/** The stored units by hour, type and source; all of them, or those with records of a type in a time span. */
export function unitsOf({ database }: StoreFile, wanted?: UnitsWanted): StoredUnit[] {
  const within = 'type IN (SELECT value FROM json_each(:types)) AND last_ms > :fromMs AND first_ms <= :toMs'
  const isWanted = wanted === undefined ? 'true' : within
  const rows = database.prepare(
    `SELECT slot, type, source, clock FROM segment WHERE level = ${RAW} AND ${isWanted}
     UNION SELECT hour, type, source, clock FROM head JOIN writer ON writer.id = head.writer WHERE ${isWanted}
     ORDER BY 1, 2, 3, 4`,
  )
  const found = wanted === undefined ? rows.all() : rows.all({ ...wanted, types: JSON.stringify(wanted.types) })
  return found.map(({ slot, type, source, clock }) => ({
    slot: Number(slot),
    type: Number(type),
    source: Number(source),
    clock: clock as Clock,
  }))
}

/**
 * The wanted records of a unit, a step at a time: compacted records first, then the head. Compaction takes the earliest
 * rows of the head, so a reader that releases the file between two steps still gets every record once. Within a step
 * the file must not change.
 */
export function* blocksOf(
  file: StoreFile,
  unit: StoredUnit,
  wants: (block: StoredBlock) => boolean,
): Generator<readonly StoredBatch[]> {
  const stored = file.catalogue.types.get(unit.type)
  const source = file.catalogue.source(unit.source)
  if (stored === undefined || source === undefined) return
  const { type } = stored
  const { clock } = unit
  for (let after = 0; ; ) {
    const segments = file.segments.compactedAfter(unit, after)
    const last = segments.at(-1)
    if (last === undefined) break
    after = last.id
    const isWanted = segments.some(({ samples: count, firstMs, lastMs }) =>
      wants({ type, source, clock, count, firstMs, lastMs }),
    )
    yield isWanted ? readCompacted(file, stored, segments) : []
  }
  const rows = file.head.ofUnitOfSource(unit).filter((row) => wants({ type, source, clock, ...row }))
  yield rows.flatMap(({ id }) => batchOfRow(file, stored, file.head.read(id)))
}

/** A row of the head in the form in which it was reported. */
function batchOfRow(file: StoreFile, { definition, type }: StoredType, row: HeadRow | undefined): StoredBatch[] {
  const writer = file.writers.of(row?.writer ?? -1)
  const source = file.catalogue.source(writer?.source ?? -1)
  if (row === undefined || writer === undefined || source === undefined) return []
  const { clock, count, body } = row
  const bytes = body.slice()
  return [{ type: definition, source, clock, texts: numberTexts(bytes, type, writer), count, bytes }]
}

/** Replaces the ids of labels and texts by positions in the list that it returns. */
function numberTexts(
  bytes: Uint8Array,
  { layout: { slots, recordBytes } }: RecordType,
  { symbols }: StoredWriter,
): string[] {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Absent values are 0, and stay 0.
  const places = new Map([[keyOfNumber(0), 0]])
  const texts = ['']
  for (const { field, offset } of slots) {
    if (field.kind !== 'symbol') continue
    for (let at = offset; at < bytes.byteLength; at += recordBytes) {
      const id = data.getUint32(at, true)
      const key = keyOfNumber(id)
      let place = places.get(key)
      if (place === undefined) {
        place = texts.push(symbols.text(id)) - 1
        places.set(key, place)
      }
      data.setUint32(at, place, true)
    }
  }
  return texts
}
