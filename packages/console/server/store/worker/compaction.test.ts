import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  array,
  counter,
  defineType,
  gauge,
  labelNumber,
  optional,
  type RecordType,
  text,
  timestamp,
  value,
} from '@sonde/sdk'
import { definitionOf, type Slot, SymbolTable } from '@sonde/sdk/internal'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { hasColumnValue } from '../codec/column.ts'
import { decodeColumn } from '../codec/decode-column.ts'
import { Arena } from './arena.ts'
import { compact } from './compaction.ts'
import { type NewSegment, ORDER_FIELD, TIMES_FIELD } from './segments.ts'
import { type SeriesLookup, SeriesResolver } from './series-resolver.ts'
import type { StoredSeries } from './store-catalogue.ts'

const base = { time: timestamp(), port: labelNumber('u16', 'Port') }
const kinds = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'f32', 'f64'] as const
const scalars = Object.fromEntries(kinds.map((kind) => [`a_${kind}`, gauge(kind)]))
const types: readonly RecordType[] = [
  defineType('compact_scalars', 'Each kind', { ...base, ...scalars, on: value('bool') }, { layout: 'packed' }),
  defineType('compact_optional', 'Fields that some records lack', {
    ...base,
    some: optional(counter('u64')),
    words: text(),
    rare: optional(array(gauge('i16'), 3)),
  }),
  // So wide that the series do not fit into the memory of one pass.
  defineType('compact_wide', 'Many elements', { ...base, bins: array(value('u8'), 2048), sum: counter('u64') }),
  defineType('compact_untimed', 'No time of its own', { port: labelNumber('u16', 'Port'), level: gauge('f64') }),
]
const BASE_NS = 1_700_000_000_000_000_000n
const ROW_RECORDS = 100
const symbolText = (id: number) => `text ${id}`

interface GivenRecord {
  readonly record: number
  readonly time: bigint
}

/** Random records: times are set, texts and ports are few, all other bytes are random. */
function makeRecords(type: RecordType, count: number, random: Random): Buffer {
  const { recordBytes } = type.layout
  const bytes = Buffer.alloc(count * recordBytes)
  for (let at = 0; at < bytes.length; at++) bytes[at] = random.integer(0, 255)
  for (let record = 0, time = BASE_NS; record < count; record++, time += 1000n) {
    const at = record * recordBytes
    const late = random.chance(0.01) ? BigInt(random.integer(0, 50_000)) : 0n
    if (type.time !== undefined) bytes.writeBigUInt64LE(time - late, at + type.time.offset)
    for (const { field, offset } of type.layout.slots) {
      if (field.kind === 'symbol') bytes.writeUInt32LE(random.integer(1, 9), at + offset)
      if (field.role === 'label') bytes.writeUInt16LE(random.integer(1, 7) * 1000, at + offset)
    }
  }
  return bytes
}

/** The records of each port by time, computed one record at a time. */
function inOrder(type: RecordType, bytes: Buffer): Map<number, GivenRecord[]> {
  const { recordBytes, slots } = type.layout
  const portAt = slots.find(({ name }) => name === 'port')?.offset ?? 0
  const ports = new Map<number, GivenRecord[]>()
  for (let record = 0; record < bytes.length / recordBytes; record++) {
    const port = bytes.readUInt16LE(record * recordBytes + portAt)
    const time =
      type.time === undefined
        ? BigInt(arrivalMsOf(record)) * 1_000_000n
        : bytes.readBigUInt64LE(record * recordBytes + type.time.offset)
    ports.set(port, [...(ports.get(port) ?? []), { record, time }])
  }
  for (const records of ports.values()) records.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  return ports
}

function arrivalMsOf(record: number): number {
  return 1_700_000_000_000 + Math.floor(record / ROW_RECORDS)
}

/** An element of a field of a record in the form of a chunk; undefined if the record does not have the field. */
function wordsAt(type: RecordType, bytes: Buffer, record: number, slot: Slot, element: number): bigint | undefined {
  const at = record * type.layout.recordBytes
  const { kind, count, optional: mayLack } = slot.field
  if (mayLack && ((bytes.readUInt32LE(at + (slot.index >> 5) * 4) >>> (slot.index & 31)) & 1) === 0) return undefined
  const width = slot.bytes / count
  const from = at + slot.offset + element * width
  if (width === 8) return bytes.readBigUInt64LE(from)
  const narrow = kind.startsWith('i') ? bytes.readIntLE(from, width) : bytes.readUIntLE(from, width)
  return BigInt.asUintN(64, BigInt(narrow))
}

function compactAll(type: RecordType, bytes: Buffer): { segment: NewSegment; portOf: Map<number, string> } {
  const ids = new Map<string, StoredSeries>()
  const lookup: SeriesLookup = (_, labels) => {
    const known = ids.get(labels.port ?? '') ?? { id: 100 + ids.size, labels, seenHour: 0 }
    ids.set(labels.port ?? '', known)
    return known
  }
  const stored = { id: 1, definition: definitionOf(type), type }
  const source = { id: 'test', tag: '', labels: {}, symbols: new SymbolTable() }
  const rows = Array.from({ length: Math.ceil(bytes.length / type.layout.recordBytes / ROW_RECORDS) }, (_, row) => {
    return { offset: row * ROW_RECORDS * type.layout.recordBytes, firstMs: arrivalMsOf(row * ROW_RECORDS) }
  })
  const unit = { type: 1, writer: 1, clock: 'wall', hour: 472_222, bytes: bytes.length } as const
  const finder = { resolver: new SeriesResolver(stored, source), lookup }
  const memory = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  const work = compact(
    unit,
    { ids: [1], rows, bytes: memory },
    stored,
    { id: 1, symbols: { text: symbolText } },
    finder,
    new Arena(),
  )
  let step = work.next()
  while (step.done !== true) step = work.next()
  const [segment] = step.value
  assert.ok(segment !== undefined && step.value.length === 1)
  return { segment, portOf: new Map([...ids].map(([port, { id }]) => [id, port])) }
}

for (const type of types) {
  test(`segments of ${type.name} have every value of every record, in the order of their times`, () => {
    const random = new Random(SEED)
    const bytes = makeRecords(type, 1500, random)
    const expected = inOrder(type, bytes)
    const { segment, portOf } = compactAll(type, bytes)
    assert.deepEqual(
      [...segment.series].map((id) => Number(portOf.get(id))),
      [...expected.keys()],
    )
    for (const [number, records] of [...expected.values()].entries()) {
      const columnOf = (field: number) => decodeColumn(segment.chunks.get(field)?.[number] ?? new Uint8Array(0))
      const bigs = ({ words }: { words: Uint32Array }) => [...new BigUint64Array(words.slice().buffer)]
      assert.equal(segment.timesOf[number], number)
      assert.deepEqual(
        bigs(columnOf(TIMES_FIELD)),
        records.map(({ time }) => time),
      )
      assert.deepEqual(
        bigs(columnOf(ORDER_FIELD)),
        records.map(({ record }) => BigInt(record)),
      )
      for (const slot of type.layout.slots) {
        if (slot === type.time || slot.field.role === 'label') continue
        const column = columnOf(slot.index + 1)
        const words = bigs(column)
        for (const [i, { record }] of records.entries()) {
          for (let element = 0; element < slot.field.count; element++) {
            const wanted = wordsAt(type, bytes, record, slot, element)
            const place = `${slot.name}[${element}] of record ${record}`
            assert.equal(hasColumnValue(column.present, i), wanted !== undefined, place)
            if (wanted === undefined) continue
            const found = words[element * records.length + i]
            if (column.texts === null) assert.equal(found, wanted, place)
            else assert.equal(column.texts[Number(found)], symbolText(Number(wanted)), place)
          }
        }
      }
    }
  })
}
