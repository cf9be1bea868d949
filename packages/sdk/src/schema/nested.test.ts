import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource, sondeError } from '../../test/helper.ts'
import {
  array,
  buckets,
  counter,
  type Field,
  gauge,
  label,
  type NestedField,
  nested,
  optional,
  text,
  timestamp,
  value,
} from './field.ts'
import { definitionOf, type TypeDefinition } from './fingerprint.ts'
import { parseDefinition } from './parse-definition.ts'
import { defineType, type Fields, type RecordType, typeOfDefinition } from './record-type.ts'
import { seriesKey } from './series.ts'

const side = defineType('side', 'One direction', { bytes: counter('u64', { unit: 'bytes' }), errors: counter('u16') })
const lane = defineType('lane', 'One lane', { time: timestamp('us'), name: label(), snr: gauge('f32') })
const link = defineType('link', 'A link', {
  time: timestamp(),
  device: label(),
  rx: nested(side),
  tx: optional(nested(side)),
  lanes: array(nested(lane), 2),
})

const T0 = 1_800_000_000_000_000_000n
const lanes = [
  { time: 5, name: 'a', snr: 1.5 },
  { time: 6, name: 'b', snr: 2.5 },
]
const record = { time: T0, device: 'eth0', rx: { bytes: 2n ** 60n, errors: 3 }, tx: { bytes: 4, errors: 5 }, lanes }
const readLanes = [
  { time: 5n, name: 'a', snr: 1.5 },
  { time: 6n, name: 'b', snr: 2.5 },
]

function definitionOfType(type: RecordType): TypeDefinition {
  return JSON.parse(JSON.stringify(definitionOf(type)))
}

test('a nested record reads back as it was reported, and is absent as a whole where it may be', () => {
  const { source, emitted } = recordingSource()
  source.report(link, record)
  source.report(link, { ...record, tx: undefined })
  source.flush()
  const read = { time: T0, device: 'eth0', rx: { bytes: 2n ** 60n, errors: 3 }, lanes: readLanes }
  assert.deepEqual(emitted[0]?.records, [{ ...read, tx: { bytes: 4n, errors: 5 } }, read])
})

test('slots are the leaves: outside arrays they keep their roles, inside all are data, and a time is never that of the record', () => {
  const roles = link.layout.slots.map(({ name, field }) => [name, field.role, field.optional])
  assert.deepEqual(roles, [
    ['time', 'timestamp', false],
    ['device', 'label', false],
    ['rx.bytes', 'counter', false],
    ['rx.errors', 'counter', false],
    ['tx.bytes', 'counter', true],
    ['tx.errors', 'counter', true],
    ['lanes.0.time', 'value', false],
    ['lanes.0.name', 'value', false],
    ['lanes.0.snr', 'value', false],
    ['lanes.1.time', 'value', false],
    ['lanes.1.name', 'value', false],
    ['lanes.1.snr', 'value', false],
  ])
  assert.deepEqual(
    [...link.metrics],
    [
      ['rx.bytes', 'link_rx_bytes'],
      ['rx.errors', 'link_rx_errors'],
      ['tx.bytes', 'link_tx_bytes'],
      ['tx.errors', 'link_tx_errors'],
    ],
  )
  assert.equal(link.time?.name, 'time')
  assert.deepEqual(
    link.labels.map(({ name }) => name),
    ['device'],
  )
})

test('metrics of nested fields are named by their place, bins keep their edges', () => {
  const inner = defineType('inner', '', {
    a: gauge('u8', { metric: 'given' }),
    wait: buckets('u32', [1, 2]),
    who: label(),
  })
  const outer = defineType('outer', '', { x: nested(inner), y: nested(inner) })
  assert.deepEqual([...outer.metrics.values()], ['outer_x_a', 'outer_x_wait', 'outer_y_a', 'outer_y_wait'])
  assert.deepEqual(outer.layout.slots[1]?.field.edges, [1, 2])
  assert.equal(seriesKey({ [outer.labels[1]?.name ?? '']: 'me' }), 'y.who="me"')
})

test('records lie as C lays structs out, or without padding', () => {
  const inner = { a: value('u8'), b: value('u32'), c: value('u8') }
  const outerOf = (layout: 'aligned' | 'packed') =>
    defineType(
      'o',
      '',
      { x: value('u8'), in: array(nested(defineType('i', '', inner)), 2), y: value('u16') },
      { layout },
    )
  const places = (layout: 'aligned' | 'packed') => {
    const { slots, recordBytes } = outerOf(layout).layout
    return [...slots.map(({ offset }) => offset), recordBytes]
  }
  // As gcc says: offsetof of x, in[0].a, .b, .c, in[1].a, .b, .c, y; the record is a multiple of 8 besides.
  assert.deepEqual(places('aligned'), [0, 4, 8, 12, 16, 20, 24, 28, 32])
  assert.deepEqual(places('packed'), [0, 1, 2, 6, 7, 8, 12, 13, 15])
})

test('wrong nested records are refused by their path', () => {
  const { source, emitted } = recordingSource()
  const wrongs: [unknown, RegExp][] = [
    [{ ...record, rx: 5 }, /link\.rx was given 5; allowed: a record like side/],
    [{ ...record, rx: null }, /link\.rx was given null/],
    [{ ...record, rx: undefined }, /link\.rx was given undefined/],
    [{ ...record, rx: { bytes: 1 } }, /link\.rx\.errors was given undefined/],
    [{ ...record, tx: { bytes: 1 } }, /link\.tx\.errors was given undefined/],
    [{ ...record, lanes: [lanes[0]] }, /link\.lanes was given an array of 1 elements; allowed: an array of 2 records/],
    [{ ...record, lanes: [lanes[0], { ...lanes[1], snr: 'x' }] }, /link\.lanes\.1\.snr was given "x"/],
    [{ ...record, rx: { ...record.rx, drops: 1 } }, /link\.rx has no field "drops"; it has: bytes, errors/],
    [{ ...record, lanes: [lanes[0], { ...lanes[1], x: 1 }] }, /link\.lanes has no field "x"/],
  ]
  for (const [wrong, message] of wrongs) {
    assert.throws(() => source.report(link, wrong as typeof record), sondeError('SRC_VALUE', message))
  }
  source.flush()
  assert.deepEqual(emitted, [])
  assert.throws(() => source.bind(link, { device: 'eth0' }), sondeError('SRC_BIND', /link\.rx is a nested record/))
})

test('what makes no sense inside a record is refused where the type is declared', () => {
  const named = defineType('named', '', { who: label(), n: value('u8') })
  assert.throws(
    () => defineType('t', '', { a: optional(nested(named)) }),
    sondeError('SCH_FIELD', /field a\.who of type t: a label cannot be optional/),
  )
  const two = { 'a.n': value('u8'), a: nested(defineType('n', '', { n: value('u8') })) }
  assert.throws(() => defineType('t', '', two), sondeError('SCH_FIELD', /two fields called a\.n/))
  const tooMany = array(nested(named), 513)
  assert.throws(() => defineType('t', '', { a: tooMany }), sondeError('SCH_LIMIT', /1026 fields; allowed: 1 to 1024/))
  assert.throws(() => array(array(nested(named), 2) as unknown as Field<number, false>, 2), sondeError('SCH_FIELD'))
  assert.throws(() => array(nested(named), 1), sondeError('SCH_FIELD', /an array of 1/))
})

function deep(levels: number): Fields {
  let fields: Fields = { n: value('u8') }
  for (let i = 1; i < levels; i++) fields = { in: { ...nested(defineType('t', '', { n: value('u8') })), fields } }
  return fields
}

test('types nest eight levels deep', () => {
  assert.equal(defineType('t', '', deep(8)).layout.slots[0]?.name, `${'in.'.repeat(7)}n`)
  assert.throws(() => defineType('t', '', deep(9)), sondeError('SCH_LIMIT', /8 levels/))
})

test('the definition knows the nesting: a type comes back from its JSON, and the fingerprint is of all of it', () => {
  const definition = definitionOfType(link)
  assert.deepEqual(typeOfDefinition(definition), link)
  assert.deepEqual(parseDefinition(definition, link.fingerprint), link)
  const other = defineType('side', 'One direction', {
    bytes: counter('u64', { unit: 'bytes' }),
    errors: counter('u32'),
  })
  const { fields } = link
  assert.notEqual(defineType('link', 'A link', { ...fields, rx: nested(other) }).fingerprint, link.fingerprint)
})

test('foreign definitions that nest too deeply, too widely or wrongly are refused, and cost nothing', () => {
  const of = (field: object) => ({ name: 't', description: '', layout: 'packed', fields: [{ name: 'a', ...field }] })
  const leaf = { name: 'n', kind: 'u8', role: 'value', count: 1, optional: false }
  const record = { kind: 'record', role: 'value', type: 'i', count: 65_535, optional: false }
  let bomb: object = { ...record, fields: [leaf] }
  for (let i = 0; i < 6; i++) bomb = { ...record, fields: [{ ...bomb, name: 'a' }] }
  let hollow: object = { ...record, fields: [] }
  for (let i = 0; i < 6; i++) hollow = { ...record, fields: [{ ...hollow, name: 'a' }] }
  let abyss: object = { ...record, count: 1, fields: [leaf] }
  for (let i = 0; i < 5000; i++) abyss = { ...record, count: 1, fields: [{ ...abyss, name: 'a' }] }
  const wrongs: object[] = [
    bomb,
    hollow,
    abyss,
    { ...record, count: 1 },
    { ...record, count: 1, fields: 'none' },
    { ...record, count: 1, fields: [leaf], type: 5 },
    { ...record, count: 1, fields: [leaf], role: 'label' },
    { ...record, count: 0, fields: [leaf] },
    { ...record, count: 1.5, fields: [leaf] },
    { ...record, count: 2, fields: [{ ...leaf, role: 'owner' }] },
    { ...record, count: 2, fields: [{ ...leaf, kind: 'u8[0]=1;process.exit();//' }] },
    { ...record, count: 2, fields: [{ ...leaf, name: '__proto__' }] },
  ]
  for (const wrong of wrongs) {
    assert.throws(() => parseDefinition(of(wrong), 'x'), sondeError('SCH_DEFINITION'))
  }
})

test('names that every object has, text and absence work inside records too', () => {
  const inner = defineType('inner', '', {
    toString: optional(value('u8')),
    note: optional(text()),
    n: value('i8'),
  } as Fields)
  const outer = defineType('outer', '', { valueOf: nested(inner) as NestedField } as Fields)
  const { source, emitted } = recordingSource()
  source.report(outer, { valueOf: { n: -1 } } as never)
  source.report(outer, { valueOf: { n: -2, note: 'x', toString: 3 } } as never)
  assert.throws(() => source.report(outer, {} as never), sondeError('SRC_VALUE', /outer\.valueOf was given undefined/))
  source.flush()
  assert.deepEqual(
    emitted[0]?.records.map((read) => Object.entries(read.valueOf)),
    [
      [['n', -1]],
      [
        ['toString', 3],
        ['note', 'x'],
        ['n', -2],
      ],
    ],
  )
})
