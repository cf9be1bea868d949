import { labelOf, msFactorOf, type Slot, viewsOf } from '@sonde/sdk'
import type { WordColumn } from '../codec/column.ts'
import { decodeColumn } from '../codec/decode-column.ts'
import type { RecordsRequest, StoredBatch } from '../protocol.ts'
import type { StoredSeries, StoredType } from './catalogue.ts'
import { writeColumn } from './field-words.ts'
import type { HeadRow } from './head.ts'
import { RAW, type Segment, TIMES_FIELD } from './segments.ts'
import { timeMsAt } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'

const RECORD_LIMIT = 10_000

/** Reads records back as they were reported: segments from the earliest on, series by series, then the head in the order in which it came. */
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

function* readAll(file: StoreFile, { type, fromMs, toMs }: RecordsRequest): Generator<StoredBatch> {
  const versions = file.catalogue.versionsOf(type)
  for (const stored of versions) {
    const isWanted = (timeMs: number) => timeMs > fromMs && timeMs <= toMs
    for (const segment of file.segments.inRange(RAW, stored.id, fromMs, toMs)) {
      for (const number of segment.series.keys()) {
        const batch = file.readChunk(() => readSeries(file, stored, segment, number))
        if (batch !== undefined) yield* kept(batch, stored, isWanted)
      }
    }
    for (const row of file.head.inRange(stored.id, fromMs, toMs)) {
      const batch = batchOfRow(file, stored, row)
      if (batch !== undefined) yield* kept(batch, stored, isWanted)
    }
  }
}

/** The records of a batch that are wanted. Without a timestamp in them all are: their time is that of the row. */
function* kept(
  batch: StoredBatch,
  { type }: StoredType,
  isWanted: (timeMs: number) => boolean,
): Generator<StoredBatch> {
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

function batchOfRow(file: StoreFile, stored: StoredType, row: HeadRow): StoredBatch | undefined {
  const writer = file.writers.of(row.writer)
  const source = file.catalogue.source(writer?.source ?? -1)
  if (writer === undefined || source === undefined) return undefined
  const { clock, count } = row
  return { type: stored.definition, source, clock, texts: [...writer.texts], count, bytes: row.body.slice() }
}

function readSeries(file: StoreFile, stored: StoredType, segment: Segment, number: number): StoredBatch | undefined {
  const { type, definition } = stored
  const series = file.catalogue.seriesById(segment.series[number] ?? -1)
  const source = file.catalogue.source(segment.source)
  const times = columnOf(file, segment, TIMES_FIELD, segment.timesOf[number] ?? number)
  if (series === undefined || source === undefined || times === undefined) return undefined
  const { layout } = type
  const bytes = new Uint8Array(times.count * layout.recordBytes)
  const data = new DataView(bytes.buffer)
  const texts: string[] = []
  const idOf = (text: string) => {
    const known = texts.indexOf(text)
    return known >= 0 ? known : texts.push(text) - 1
  }
  for (const slot of layout.slots) {
    const column =
      slot === type.time
        ? times
        : slot.field.role === 'label'
          ? labelColumn(slot, series, times.count)
          : columnOf(file, segment, slot.index + 1, number)
    if (column === undefined || column.count !== times.count) continue
    writeColumn(column, slot, layout, data, (column.texts ?? []).map(idOf), 0, times.count)
  }
  return { type: definition, source, clock: segment.clock, texts, count: times.count, bytes }
}

function columnOf(file: StoreFile, segment: Segment, field: number, number: number): WordColumn | undefined {
  const body = file.segments.chunk(segment.id, field, number)
  return body === undefined ? undefined : decodeColumn(body)
}

/** A label is the same in every record of its series, and known by its text alone. */
function labelColumn(slot: Slot, { labels }: StoredSeries, count: number): WordColumn {
  const { kind, count: elements } = slot.field
  const text = labelOf(labels, slot.name)
  const words = new Uint32Array(2 * count * elements)
  const values =
    kind === 'symbol' ? [0] : kind === 'char' ? [...Buffer.from(text).subarray(0, elements - 1)] : [Number(text)]
  for (const [element, value] of values.entries()) {
    for (let i = 0; i < count; i++) words[2 * (element * count + i)] = value
  }
  return { kind, count, elements, words, present: null, texts: kind === 'symbol' ? [text] : null }
}
