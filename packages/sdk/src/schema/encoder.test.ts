import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import type { Random } from '../../test/random.ts'
import { encoderOf } from './encoder.ts'
import {
  array,
  chars,
  counter,
  type Field,
  gauge,
  type Integer64,
  label,
  labelNumber,
  type NestedField,
  type NumericKind,
  nested,
  optional,
  text,
  timestamp,
  value,
} from './field.ts'
import { isPresent, numberAt, type ReadRecord, readRecord, readRecords } from './reader.ts'
import { defineType, type Fields, type RecordType } from './record-type.ts'
import { SymbolTable } from './symbols.ts'
import { SourceTexts, TextTable } from './texts.ts'
import { allocateViews } from './views.ts'

const NUMERIC: readonly NumericKind[] = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64']
const TEXTS = ['', 'a', 'eth0', 'mlx5_0/1', 'naïve', '日本', '🚀', '\uFEFFbom', 'q"\\\n']

const EDGES: Readonly<Record<string, readonly Integer64[]>> = {
  u8: [0, 255, -0],
  i8: [-128, 127],
  u16: [0, 65_535],
  i16: [-32_768, 32_767],
  u32: [0, 2 ** 31, 2 ** 32 - 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u64: [0, -0, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2n ** 53n, 2n ** 64n - 2048n, 0n, 2n ** 53n + 1n, 2n ** 64n - 1n],
  i64: [0, -0, -1, -(2 ** 32), -(2 ** 32) - 1, 2 ** 53 - 1, -(2 ** 53) + 1, -(2n ** 63n), 2n ** 63n - 1n, -1n],
  f32: [
    0,
    -0,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e-45,
    3.4e38,
    3.4028235677973362e38,
  ],
  f64: [0, -0, 0.1, Number.NaN, Number.NEGATIVE_INFINITY, Number.MIN_VALUE, Number.MAX_VALUE, 2 ** 53 + 2],
}

/** Given to the encoder, and what the reader must say of it. */
interface Sample {
  readonly given: unknown
  readonly read: ReadRecord[string]
}

function scalarSample(kind: string, random: Random): { given: Integer64 | boolean; read: bigint | number | boolean } {
  if (kind === 'bool') {
    const given = random.chance(0.5)
    return { given, read: given }
  }
  let given: Integer64 = random.pick(EDGES[kind] ?? [])
  if (kind === 'u64' && random.chance(0.5)) given = random.bits64()
  if (kind === 'i64' && random.chance(0.5)) given = BigInt.asIntN(64, random.bits64())
  if (kind === 'f64' && random.chance(0.5)) given = (random.next() - 0.5) * 1e12
  if (kind === 'u64' || kind === 'i64') return { given, read: BigInt(given) }
  return { given, read: kind === 'f32' ? Math.fround(Number(given)) : kind === 'f64' ? given : Number(given) + 0 }
}

function randomField(random: Random): { field: Field; sample: () => Sample } {
  const wrap = (field: Field<never, false>): Field => (random.chance(0.4) ? optional(field) : field)
  const choice = random.integer(0, 9)
  if (choice === 0) return { field: label(), sample: () => same(random.pick(TEXTS)) }
  if (choice === 1) return { field: wrap(text() as Field<never, false>), sample: () => same(random.pick(TEXTS)) }
  if (choice === 2) return { field: chars(random.integer(13, 40)), sample: () => same(random.pick(TEXTS)) }
  if (choice === 3) return { field: labelNumber('u16'), sample: () => same(random.integer(0, 65_535)) }
  const kind = random.chance(0.1) ? 'bool' : random.pick(NUMERIC)
  const scalar = kind === 'bool' ? value(kind) : random.pick([gauge, value, counter])(kind)
  if (random.chance(0.6))
    return { field: wrap(scalar as Field<never, false>), sample: () => scalarSample(kind, random) }
  const count = random.integer(2, 5)
  const sample = () => {
    const elements = Array.from({ length: count }, () => scalarSample(kind, random))
    return { given: elements.map(({ given }) => given), read: elements.map(({ read }) => read) }
  }
  return { field: wrap(array(scalar as Field<never, false>, count) as Field<never, false>), sample }
}

function same(given: string | number): Sample {
  return { given, read: given }
}

interface RandomType {
  readonly type: RecordType
  record(): { given: object; read: ReadRecord }
}

/** A record inside a record, or several of them, or none. */
function randomNested(random: Random, depth: number): { field: NestedField; sample: () => Sample } {
  const inner = randomType(random, random.integer(1, 4), depth + 1)
  const count = random.pick([1, 1, 2, 3])
  const single = nested(inner.type)
  const field: NestedField<unknown, false> = count === 1 ? single : array(single, count)
  // A label is always there; a nested record of which all may be absent reads as absent.
  const mayLack = inner.type.labels.length === 0 && inner.type.layout.slots.some((slot) => !slot.field.optional)
  const sample = () => {
    const elements = Array.from({ length: count }, inner.record)
    const [first] = elements
    if (count === 1 && first !== undefined) return first
    return { given: elements.map(({ given }) => given), read: elements.map(({ read }) => read) }
  }
  return { field: mayLack && random.chance(0.4) ? optional(field) : field, sample }
}

function randomType(random: Random, fieldCount = random.integer(1, 70), depth = 1): RandomType {
  const part = () => (depth < 4 && random.chance(0.08 * depth) ? randomNested(random, depth) : randomField(random))
  const parts = Array.from({ length: fieldCount }, (_, i) => [`f${i}`, part()] as const)
  const fields = Object.fromEntries(parts.map(([name, { field }]) => [name, field]))
  const type = defineType('random', '', fields, { layout: random.pick(['aligned', 'packed']) })
  const record = () => {
    const given: Record<string, unknown> = {}
    const read: ReadRecord = {}
    for (const [name, { field, sample }] of parts) {
      if (field.optional && random.chance(0.5)) continue
      const made = sample()
      given[name] = made.given
      read[name] = made.read
    }
    return { given, read }
  }
  return { type, record }
}

property('what is encoded reads back the same, for random types of every kind in both layouts', 300, (random) => {
  const { type, record } = randomType(random)
  const symbols = new SymbolTable()
  const encode = encoderOf(type, symbols)
  const count = 5
  const views = allocateViews(count * type.layout.recordBytes)
  views.bytes.fill(0xee)
  const made = Array.from({ length: count }, record)
  made.forEach(({ given }, i) => {
    encode(given, views, i * type.layout.recordBytes)
  })
  assert.deepEqual(
    [...readRecords(type, views, count, symbols)],
    made.map(({ read }) => read),
  )
})

property('a number read from a column is the nearest double of the value', 100, (random) => {
  const { type, record } = randomType(random)
  const symbols = new SymbolTable()
  const views = allocateViews(type.layout.recordBytes)
  const { given, read } = record()
  encoderOf(type, symbols)(given, views, 0)
  for (const slot of type.layout.slots) {
    const at = (outer: unknown, key: string) => (outer as ReadRecord | undefined)?.[key]
    const expected = slot.name.split('.').reduce(at, read as ReadRecord[string] | undefined)
    assert.equal(isPresent(type.layout, slot, views, 0), expected !== undefined)
    if (expected === undefined || typeof expected === 'string') continue
    const elements = Array.isArray(expected) ? expected : [expected]
    elements.forEach((element, i) => {
      assert.equal(numberAt(slot, views, 0, i), Number(element), `${slot.name}[${i}] of kind ${slot.field.kind}`)
    })
  }
})

const wrongValues: readonly (readonly [string, Field, readonly unknown[]])[] = [
  ['u8', value('u8'), [-1, 256, 1.5, Number.NaN, '5', 5n, null, undefined, [5], {}, true]],
  ['i8', value('i8'), [-129, 128, 0.1, '1', 1n]],
  ['u16', value('u16'), [-1, 65_536, 1n]],
  ['i16', value('i16'), [-32_769, 32_768]],
  ['u32', value('u32'), [-1, 2 ** 32, 0.5, '0', 0n, Number.POSITIVE_INFINITY]],
  ['i32', value('i32'), [2 ** 31, -(2 ** 31) - 1, 0n]],
  ['u64', value('u64'), [-1, 0.5, 2 ** 53, 2 ** 60, 2 ** 64, Number.NaN, -1n, 2n ** 64n, '1', undefined, null, [1n]]],
  ['i64', value('i64'), [0.5, 2 ** 53, -(2 ** 53), 2n ** 63n, -(2n ** 63n) - 1n, '1']],
  ['f32', value('f32'), ['1', 1n, undefined, null, 1e300, -1e300, 3.4028235677973366e38]],
  ['f64', value('f64'), ['1', 1n, {}, undefined]],
  ['bool', value('bool'), [0, 1, 'true', undefined]],
  ['symbol', label(), [undefined, null, 1, {}, ['a']]],
  ['char', chars(4), ['abcd', 'añb', 'a\0b', 1, undefined]],
  ['array', array(value('u8'), 3), [[1, 2], [1, 2, 3, 4], [1, 2, 256], 'abc', null, undefined, 5, [1n, 2, 3]]],
]

for (const [kind, field, wrongs] of wrongValues) {
  for (const layout of ['aligned', 'packed'] as const) {
    test(`refuses what does not fit a field of kind ${kind}, ${layout}, and keeps nothing of the record`, () => {
      const type = defineType('t', '', { before: value('u32'), f: field }, { layout })
      for (const wrong of wrongs) {
        const { source, emitted } = recordingSource()
        const report = () => source.report(type as RecordType, { before: 7, f: wrong })
        assert.throws(report, sondeError('SRC_VALUE', /^t\.f was given .*; allowed: /))
        source.flush()
        assert.deepEqual(emitted, [])
      }
    })
  }
}

test('a refused record leaves those around it whole', () => {
  const type = defineType('t', '', { device: label(), n: value('u32') })
  const { source, emitted } = recordingSource()
  source.report(type, { device: 'a', n: 1 })
  assert.throws(() => source.report(type, { device: 'wrong', n: -1 }), sondeError('SRC_VALUE'))
  source.report(type, { device: 'b', n: 2 })
  source.flush()
  assert.deepEqual(emitted[0]?.records, [
    { device: 'a', n: 1 },
    { device: 'b', n: 2 },
  ])
})

test('refuses what is no record at all', () => {
  const { source } = recordingSource()
  const type = defineType('t', '', { n: value('u32') })
  for (const wrong of [null, undefined, 5, 'text']) {
    assert.throws(() => source.report(type, wrong as never), sondeError('SRC_VALUE', /^t was given/))
  }
})

test('an optional field refuses null: absent is undefined', () => {
  const { source } = recordingSource()
  const type = defineType('t', '', { n: optional(value('u32')) })
  assert.throws(() => source.report(type, { n: null as never }), sondeError('SRC_VALUE'))
})

test('writes an aligned record to the documented bytes', () => {
  const type = defineType('golden', '', {
    time: timestamp(),
    device: label(),
    port: labelNumber('u8'),
    rx_bytes_total: counter('u64'),
    celsius: gauge('f32'),
    part: chars(4),
  })
  const { source, emitted } = recordingSource({ clock: 'device' })
  source.report(type, {
    time: 0x0102030405060708n,
    device: 'eth0',
    port: 7,
    rx_bytes_total: 2n ** 53n + 1n,
    celsius: 1.5,
    part: 'ab',
  })
  source.flush()
  const bytes = Buffer.from(emitted[0]?.bytes ?? []).toString('hex')
  assert.equal(bytes, '0807060504030201 08000000 07000000 0100000000002000 0000c03f 61620000'.replaceAll(' ', ''))
})

test('writes a packed record with optional fields to the documented bytes', () => {
  const type = defineType(
    'golden',
    '',
    {
      a: value('u8'),
      b: optional(value('i16')),
      c: optional(value('u64')),
      d: array(value('u16'), 2),
      e: value('bool'),
    },
    { layout: 'packed' },
  )
  const { source, emitted } = recordingSource()
  source.report(type, { a: 0xab, b: -2, d: [0x0102, 0x0304], e: true })
  source.report(type, { a: 1, c: 0x1122334455667788n, d: [0, 0xffff], e: false })
  source.flush()
  const bytes = Buffer.from(emitted[0]?.bytes ?? []).toString('hex')
  const first = '1b000000 ab feff 0000000000000000 02010403 01'
  const second = '1d000000 01 0000 8877665544332211 0000ffff 00'
  assert.equal(bytes, (first + second).replaceAll(' ', ''))
})

test('presence takes a second word after 32 fields', () => {
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, optional(value('u8'))]))
  for (const layout of ['aligned', 'packed'] as const) {
    const type = defineType('wide', '', fields, { layout })
    assert.equal(type.layout.presenceWords, 2)
    const views = allocateViews(type.layout.recordBytes)
    encoderOf(type, new SymbolTable())({ f31: 1, f32: 2, f39: 3 }, views, 0)
    assert.deepEqual([views.data.getUint32(0, true), views.data.getUint32(4, true)], [0x80000000, 0x81])
    assert.deepEqual(readRecord(type, views, 0, new SymbolTable()), { f31: 1, f32: 2, f39: 3 })
  }
})

test('an absent field is zeros, whatever was in the buffer before', () => {
  const kinds = Object.fromEntries(NUMERIC.map((kind) => [kind, optional(value(kind))]))
  const others = { flag: optional(value('bool')), many: optional(array(value('u16'), 3)) }
  for (const layout of ['aligned', 'packed'] as const) {
    const type = defineType('absent', '', { ...kinds, ...others, word: optional(text()) }, { layout })
    const views = allocateViews(type.layout.recordBytes)
    views.bytes.fill(0xff)
    assert.equal(encoderOf(type, new SymbolTable())({}, views, 0), true)
    const { offset = 0 } = type.layout.slots[0] ?? {}
    assert.ok(
      type.layout.slots.every(({ offset, bytes }) =>
        views.bytes.subarray(offset, offset + bytes).every((byte) => byte === 0),
      ),
    )
    assert.ok(views.bytes.subarray(0, offset).every((byte) => byte === 0))
  }
})

test('a field may be called what every object has: a record that lacks it lacks it', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', { toString: optional(gauge('f64')), valueOf: optional(gauge('f64')) } as Fields)
  source.report(type, { toString: 1 } as never)
  source.flush()
  assert.deepEqual(Object.entries(emitted[0]?.records[0] ?? {}), [['toString', 1]])
})

test('a type that is not reported for 2^30 texts, after which their ids begin again, uses no text of before', () => {
  const type = defineType('t', '', { note: text() })
  const symbols = new SymbolTable()
  const texts = new SourceTexts({ table: symbols }, 1)
  const encode = encoderOf(type, symbols, texts)
  const views = allocateViews(type.layout.recordBytes)
  const noteOf = (note: string) => {
    assert.equal(encode({ note }, views, 0), true)
    return readRecord(type, views, 0, texts.table).note
  }
  assert.equal(noteOf('first'), 'first')
  // What another type would have reported meanwhile.
  texts.table = new TextTable(symbols, 2 ** 31 - 2 ** 24)
  texts.replace()
  assert.equal(texts.table.firstTextId, 2 ** 30)
  assert.equal(texts.id('other'), 2 ** 30)
  assert.equal(noteOf('first'), 'first')
})
