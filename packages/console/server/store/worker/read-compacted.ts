import { labelOf, type Slot } from '@sonde/sdk/internal'
import type { WordColumn } from '../codec/column.ts'
import { decodeColumn } from '../codec/decode-column.ts'
import type { StoredBatch } from '../protocol.ts'
import { writeFieldColumn } from './field-words.ts'
import { ORDER_FIELD, type StoreSegment, TIMES_FIELD } from './segments.ts'
import type { StoredSeries, StoredType } from './store-catalogue.ts'
import type { StoreFile } from './store-file.ts'

/** The columns of one series, and the arrival number of each of its records. */
interface SeriesColumns {
  readonly columns: ReadonlyMap<Slot, WordColumn>
  readonly numbers: Uint32Array
}

/**
 * The records that were compacted together, as they were reported and in order of arrival. A series with a damaged
 * chunk is left out: no value is better than a wrong value.
 */
export function readCompacted(file: StoreFile, stored: StoredType, segments: readonly StoreSegment[]): StoredBatch[] {
  const [first] = segments
  const source = file.catalogue.source(first?.source ?? -1)
  if (first === undefined || source === undefined) return []
  let before = 0
  const all = segments.flatMap((segment) => {
    const from = before
    before += segment.samples
    return [...segment.series.keys()].flatMap((number) => {
      return file.readChunk(() => columnsOf(file, stored, segment, number, from)) ?? []
    })
  })
  const count = all.reduce((sum, { numbers }) => sum + numbers.length, 0)
  if (count === 0) return []
  const { layout } = stored.type
  const bytes = new Uint8Array(count * layout.recordBytes)
  const data = new DataView(bytes.buffer)
  const texts = new Map<string, number>()
  for (const [i, places] of placesOf(all).entries()) {
    for (const [slot, column] of all[i]?.columns ?? []) {
      writeFieldColumn(column, slot, layout, data, idsOf(texts, column.texts ?? []), places)
    }
  }
  return [{ type: stored.definition, source, clock: first.clock, texts: [...texts.keys()], count, bytes }]
}

/**
 * The columns of a series; undefined if one is damaged. `from` is the number of its first record if no order was
 * stored.
 */
function columnsOf(
  file: StoreFile,
  { type }: StoredType,
  segment: StoreSegment,
  number: number,
  from: number,
): SeriesColumns | undefined {
  const times = columnOf(file, segment, TIMES_FIELD, segment.timesOf[number] ?? number)
  const series = file.catalogue.seriesById(segment.series[number] ?? -1)
  if (times === undefined || series === undefined) return undefined
  const { count } = times
  const columns = new Map<Slot, WordColumn>()
  for (const slot of type.layout.slots) {
    const column =
      slot === type.time
        ? times
        : slot.field.role === 'label'
          ? labelColumn(slot, series, count)
          : columnOf(file, segment, slot.index + 1, number)
    if (column?.count !== count) return undefined
    columns.set(slot, column)
  }
  const order = columnOf(file, segment, ORDER_FIELD, number)
  const numbers = Uint32Array.from({ length: count }, (_, i) => order?.words[2 * i] ?? from + i)
  return { columns, numbers }
}

function columnOf(file: StoreFile, segment: StoreSegment, field: number, number: number): WordColumn | undefined {
  const body = file.segments.chunk(segment.id, field, number)
  return body === undefined ? undefined : decodeColumn(body)
}

/** The position of each record: its rank among the numbers of all series. */
function placesOf(all: readonly SeriesColumns[]): Uint32Array[] {
  // Numbers of two series are equal only if damage destroyed the order of a series.
  const keys = all.map(({ numbers }, series) => Float64Array.from(numbers, (number) => number * all.length + series))
  const sorted = Float64Array.from(keys.flatMap((ofSeries) => [...ofSeries])).sort()
  const places = new Map<number, number>()
  for (const [place, key] of sorted.entries()) places.set(key, place)
  return keys.map((ofSeries) => Uint32Array.from(ofSeries, (key) => places.get(key) ?? 0))
}

/** The ids of texts in the table of the batch, to which new texts are added. */
function idsOf(table: Map<string, number>, texts: readonly string[]): number[] {
  return texts.map((text) => {
    const id = table.get(text) ?? table.size
    table.set(text, id)
    return id
  })
}

/** A label is the same in every record of its series, and is identified by its text only. */
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
