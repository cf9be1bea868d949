import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addExtension, Unpackr } from 'msgpackr'
import { sondeError } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType, portType } from '../../../test/sink-records.ts'
import type { Batch } from '../../schema/batch.ts'
import { array, counter, gauge, label, optional, text, timestamp, value } from '../../schema/field.ts'
import { readRecords } from '../../schema/reader.ts'
import { defineOwnType, defineType } from '../../schema/record-type.ts'
import { viewsOf } from '../../schema/views.ts'
import { EventChunks, type EventChunksOptions, forwardMessage, MESSAGE_BYTES, type MessageOptions } from './message.ts'

/** An EventTime, as an independent decoder reads it. */
class Time {
  readonly seconds: number
  readonly nanoseconds: number
  constructor(bytes: Uint8Array) {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.seconds = data.getUint32(0)
    this.nanoseconds = data.getUint32(4)
  }
}

const unpackr = new Unpackr({ mapsAsObjects: true, useRecords: false })
addExtension({ type: 0, unpack: (bytes: Uint8Array) => new Time(bytes) } as never)

type Event = readonly [Time, Readonly<Record<string, unknown>>]

const OPTIONS: EventChunksOptions = { tag: 'sonde.{type}', layout: 'flb_std', mode: 'packed_forward' }

function eventsOf(batches: readonly Batch[], options: Partial<EventChunksOptions> = {}): Event[] {
  const chunks = new EventChunks({ ...OPTIONS, ...options }).of(batches)
  return chunks.flatMap(({ events }) => unpackr.unpackMultiple(events) as unknown as Event[])
}

const golden = new BatchSource({ id: 'nic', labels: { node: 'n1' } })
const goldenBatch = () =>
  golden.batch(portType, [{ time: 1_790_000_000_123_456_789n, device: 'eth0', rx_bytes_total: 2n ** 64n - 1n }])

const ENTRY_START = '92d7006ab13b80075bcd15' // [EventTime,
const COMMON =
  'a974696d657374616d70cf00065bfeda27c240' + // timestamp
  'a474797065a8636f756e74657273' + // type: counters
  'a9747970655f6e616d65b0636f6e666f726d616e63655f706f7274' + // type_name: conformance_port
  'a6736f75726365a36e6963' // source: nic
const FIELDS =
  'a46e6f6465a26e31' + // node: n1
  'a474696d65cf18d75b842b4ecd15' + // time
  'ae72785f62797465735f746f74616ccfffffffffffffffff' + // rx_bytes_total
  'a6646576696365a465746830' // device: eth0
const MAP = `88${COMMON}${FIELDS}`
const TAG = `b6${Buffer.from('sonde.conformance_port').toString('hex')}`

function bytesOf(options: Partial<EventChunksOptions>, message: Omit<MessageOptions, 'mode'>): string {
  const { mode } = { ...OPTIONS, ...options }
  const chunks = new EventChunks({ ...OPTIONS, ...options }).of([goldenBatch()])
  return chunks.map((chunk) => Buffer.concat(forwardMessage(chunk, { mode, ...message })).toString('hex')).join(' ')
}

test('golden bytes of each mode', () => {
  const size = 'a473697a6501'
  const chunk = 'a56368756e6ba26964'
  assert.equal(bytesOf({ mode: 'message' }, {}), `93${TAG}${ENTRY_START.slice(2)}${MAP}`)
  assert.equal(bytesOf({ mode: 'message' }, { chunk: 'id' }), `94${TAG}${ENTRY_START.slice(2)}${MAP}81${chunk}`)
  assert.equal(bytesOf({ mode: 'forward' }, {}), `93${TAG}91${ENTRY_START}${MAP}81${size}`)
  const packed = `${TAG}c6000000${((ENTRY_START + MAP).length / 2).toString(16)}${ENTRY_START}${MAP}`
  assert.equal(bytesOf({}, { chunk: 'id' }), `93${packed}82${size}${chunk}`)
  assert.equal(bytesOf({}, { isCompressed: true }), `93${packed}82${size}aa636f6d70726573736564a4677a6970`)
})

test('the layout custom puts the fields into values', () => {
  const bytes = bytesOf({ layout: 'custom', mode: 'message', tag: 't-{source}' }, {})
  assert.equal(bytes, `93a5742d6e6963${ENTRY_START.slice(2)}85${COMMON}a676616c75657384${FIELDS}`)
})

/** A record as the events of its fields should have it. */
function expected(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(plain)
    return typeof given === 'number' && !Number.isFinite(given) ? null : given
  }
  return Object.fromEntries(Object.entries(record).map(([name, given]) => [name, plain(given)]))
}

test('every kind of field arrives exactly, through an independent decoder', () => {
  const full = defineType('full', 'Every kind', {
    time: timestamp(),
    name: label(),
    note: optional(text()),
    u8: value('u8'),
    i8: value('i8'),
    u16: value('u16'),
    i16: value('i16'),
    u32: value('u32'),
    i32: value('i32'),
    u64: counter('u64'),
    i64: gauge('i64'),
    f32: gauge('f32'),
    f64: gauge('f64'),
    flag: gauge('bool'),
    reals: optional(array(value('f64'), 3)),
    flags: optional(array(value('bool'), 2)),
  })
  const [low, high] = [2n ** 63n, 2n ** 64n - 1n]
  const base = { time: 1_790_000_000_000_000_001n, name: 'ä', u8: 255, i8: -128, u16: 65535, i16: -32768 }
  const numbers = { u32: 2 ** 32 - 1, i32: -(2 ** 31), f32: 0.5, f64: Math.PI, flag: true }
  const source = new BatchSource({ id: 'all' })
  const batch = source.batch(full, [
    {
      ...base,
      ...numbers,
      u64: high,
      i64: -low,
      note: 'x'.repeat(300),
      reals: [1, Number.NaN, -0.5],
      flags: [true, false],
    },
    { ...base, ...numbers, u64: 2n ** 53n + 1n, i64: low - 1n, f64: Number.POSITIVE_INFINITY, flag: false },
    { ...base, ...numbers, u64: 0, i64: -1, reals: [1, 2, 3], name: '' },
    { ...base, ...numbers, u64: 1, i64: 0, note: 'a\u0000 \ud800', f32: Number.NEGATIVE_INFINITY },
  ])
  const odd = source.batch(oddType, [ODD_RECORD, { ...ODD_RECORD, wide: undefined, part: '', note: '' }])
  for (const given of [batch, odd]) {
    const events = eventsOf([given], { layout: 'custom' })
    const records = [...readRecords(given.type, viewsOf(given.bytes), given.count, given.symbols)]
    assert.deepEqual(
      events.map(([, { values }]) => values),
      records.map((record) => {
        const wanted = expected(record)
        // UTF-8 has no half of a pair.
        return 'note' in wanted ? { ...wanted, note: String(wanted.note).toWellFormed() } : wanted
      }),
    )
  }
})

test('bytes of char[n] that are no UTF-8 become text', () => {
  const batch = new BatchSource().batch(oddType, [ODD_RECORD])
  const { slots } = oddType.layout
  const at = slots.find(({ name }) => name === 'part')?.offset ?? 0
  batch.bytes.set([0xff, 0x41, 0], at)
  assert.equal(eventsOf([batch])[0]?.[1].part, '\ufffdA')
})

test('fields and labels with a key of ours are renamed, and a label never hides a field', () => {
  const clash = defineOwnType('clash', '', {
    type: label(),
    source: label(),
    timestamp: value('u32'),
    field_type: value('u8'),
  })
  const source = new BatchSource({ id: 's', labels: { source: 'l', field_type: 'm', type_name: 'n' }, tag: 'app' })
  const batch = source.batch(clash, [{ type: 'a', source: 'b', timestamp: 7, field_type: 1 }])
  const [flat] = eventsOf([{ ...batch, source: { ...batch.source, host: 'h1' } }])
  const { timestamp: _, ...rest } = flat?.[1] ?? {}
  assert.deepEqual(rest, {
    type: 'events',
    type_name: 'clash',
    source: 's',
    host: 'h1',
    field_field_type: 'a',
    field_source: 'b',
    field_timestamp: 7,
    field_type: 1,
    source_source: 'l',
    source_field_type: 'm',
    source_type_name: 'n',
  })
})

test('times are exact, and a time that an EventTime cannot carry is that of the arrival', () => {
  const us = defineType('us', '', { time: timestamp('us'), n: value('u64') })
  const ns = defineType('ns', '', { n: value('u64'), time: timestamp() })
  const timeless = defineType('timeless', '', { n: value('u8') })
  const source = new BatchSource()
  const times = [
    1_790_000_000_999_999n,
    1_790_000_001_000_000n,
    1_790_000_000_000_001n,
    4_294_967_295_999_999n,
    4_294_967_296_000_000n,
    946_684_800_000_000n,
  ]
  for (const [type, perUs, perSecond] of [
    [us, 1n, 1_000_000n],
    [ns, 1000n, 1_000_000_000n],
  ] as const) {
    const given = times.map((time) => time * perUs + perUs - 1n)
    const batch = source.batch(
      type,
      given.map((time) => ({ time, n: 0 })),
    )
    const arrivedS = Math.floor((performance.timeOrigin + batch.arrivedMs) / 1000)
    const got = eventsOf([batch]).map(([{ seconds, nanoseconds }, { timestamp }]) => [seconds, nanoseconds, timestamp])
    const scale = 1_000_000_000n / perSecond
    assert.deepEqual(
      got.map(([seconds]) => seconds),
      given.map((time) => (time / perSecond < 2n ** 32n ? Number(time / perSecond) : arrivedS)),
    )
    given.forEach((time, i) => {
      if (time / perSecond >= 2n ** 32n) return
      assert.deepEqual(got[i]?.slice(1), [Number((time % perSecond) * scale), time / perUs])
    })
  }
  const zero = source.batch(ns, [{ time: 1_790_000_000_000_000_000n, n: 0 }])
  zero.bytes.fill(0)
  for (const batch of [zero, source.batch(timeless, [{ n: 1 }])]) {
    const [seconds] = eventsOf([batch]).map(([time]) => time.seconds)
    assert.equal(seconds, Math.floor((performance.timeOrigin + batch.arrivedMs) / 1000))
  }
})

test('batches are divided by tag and by size, in order, and no event is lost', () => {
  const source = new BatchSource()
  const big = (from: number, count: number) =>
    source.ports(Object.fromEntries(Array.from({ length: count }, (_, i) => [`port${from + i}`, from + i])))
  const other = defineType('other', '', { n: value('u32') })
  const chunks = new EventChunks(OPTIONS).of([big(0, 8000), source.batch(other, [{ n: 1 }]), big(8000, 2000)])
  assert.deepEqual(
    chunks.map(({ tag }) => tag),
    ['sonde.conformance_port', 'sonde.conformance_port', 'sonde.other'],
  )
  assert.ok(chunks.every(({ events }) => events.length < MESSAGE_BYTES + 1000))
  assert.deepEqual(
    chunks.map(({ events, count }) => unpackr.unpackMultiple(events)?.length === count),
    [true, true, true],
  )
  const ports = chunks.slice(0, 2).flatMap(({ events }) => unpackr.unpackMultiple(events) as unknown as Event[])
  // A difference of so many elements takes minutes to print.
  const wanted = Array.from({ length: 10_000 }, (_, i) => `port${i} ${i}`)
  assert.ok(ports.map(([, { device, rx_bytes_total }]) => `${device} ${rx_bytes_total}`).join() === wanted.join())
})

test('an event that no receiver takes is refused, and leaves nothing behind', () => {
  const fields = Object.fromEntries(Array.from({ length: 800 }, (_, i) => [`t${i}`, text()]))
  const huge = defineType('huge', '', fields)
  const record = Object.fromEntries(Object.keys(fields).map((name) => [name, '\u20ac'.repeat(4000)]))
  const source = new BatchSource()
  const chunks = new EventChunks(OPTIONS)
  assert.throws(
    () => chunks.of([source.batch(huge, [record])]),
    sondeError('FWD_EVENT', /^an event of type huge takes \d+ bytes; allowed: 6000000$/),
  )
  assert.equal(chunks.of([goldenBatch()])[0]?.events.toString('hex'), `${ENTRY_START}${MAP}`)
})

test('memory that Node shares among Buffers is never taken back', () => {
  const chunks = new EventChunks(OPTIONS)
  const [small] = chunks.of([goldenBatch()])
  assert.ok(small)
  const neighbour = Buffer.from('beside the events')
  chunks.release(small)
  const source = new BatchSource()
  for (let i = 0; i < 5; i++)
    chunks.of([source.ports(Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`port${n}`, n])))])
  assert.equal(neighbour.toString(), 'beside the events')
})
