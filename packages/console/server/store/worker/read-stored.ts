import { type RecordType, viewsOf } from '@sonde/sdk'
import { msFactorOf } from '@sonde/sdk/internal'
import type { RecordsRequest, StoredBatch } from '../protocol.ts'
import { timeMsAt } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'
import { blocksOf, type StoredBlock, unitsOf } from './stored-blocks.ts'

const RECORD_LIMIT = 10_000

/**
 * Reads records of a window back as they were reported: by hour and by source, and within these in order of arrival.
 */
export function readStored(file: StoreFile, request: RecordsRequest): readonly StoredBatch[] {
  const batches: StoredBatch[] = []
  let room = request.recordLimit ?? RECORD_LIMIT
  for (const batch of readAll(file, request)) {
    if (room <= 0) break
    const count = Math.min(batch.count, room)
    room -= count
    batches.push({ ...batch, count, bytes: batch.bytes.slice(0, (batch.bytes.length / batch.count) * count) })
  }
  return batches
}

function* readAll(file: StoreFile, { type: name, fromMs, toMs }: RecordsRequest): Generator<StoredBatch> {
  const wants = ({ firstMs, lastMs }: StoredBlock) => lastMs > fromMs && firstMs <= toMs
  const types = [...file.catalogue.types].filter(([, { type }]) => type.name === name).map(([id]) => id)
  for (const unit of unitsOf(file, { types, fromMs, toMs })) {
    const type = file.catalogue.types.get(unit.type)?.type
    if (type === undefined) continue
    for (const batches of blocksOf(file, unit, wants)) {
      for (const batch of batches) yield* kept(batch, type, (timeMs) => timeMs > fromMs && timeMs <= toMs)
    }
  }
}

/** The records of a batch in the window. Without a timestamp all are: their time is that of the block. */
function* kept(batch: StoredBatch, type: RecordType, isWanted: (timeMs: number) => boolean): Generator<StoredBatch> {
  const { recordBytes } = type.layout
  const { time } = type
  const views = viewsOf(batch.bytes)
  const factor = msFactorOf(type)
  const places = Array.from({ length: batch.count }, (_, i) => i * recordBytes)
  const wanted = places.filter((at) => time === undefined || isWanted(timeMsAt(views, at, time.offset, factor)))
  if (wanted.length === 0) return
  if (wanted.length === batch.count) {
    yield batch
    return
  }
  const bytes = new Uint8Array(wanted.length * recordBytes)
  for (const [i, at] of wanted.entries()) bytes.set(batch.bytes.subarray(at, at + recordBytes), i * recordBytes)
  yield { ...batch, count: wanted.length, bytes }
}
