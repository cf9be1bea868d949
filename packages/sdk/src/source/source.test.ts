import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { counter, label, nested, optional, text, timestamp, value } from '../schema/field.ts'
import { readRecords } from '../schema/reader.ts'
import { defineType } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import type { SourceOptions } from './options.ts'
import { createOwnSource, createSource } from './source.ts'

const port = defineType('port', '', { time: timestamp(), device: label(), rx: counter('u64') })
const tiny = defineType('tiny', '', { n: value('u8') }, { layout: 'packed' })

const T0 = 1_800_000_000_000_000_000n
const record = (n: number) => ({ time: T0 + BigInt(n), device: 'eth0', rx: n })

test('emits a batch when a buffer is full, and what is left on flush', () => {
  const { source, emitted } = recordingSource({ bufferBytes: 24 * 3, clock: 'device' })
  assert.equal(source.capacityFor(port), 3)
  for (let n = 0; n < 7; n++) source.report(port, record(n))
  assert.deepEqual(
    emitted.map(({ count }) => count),
    [3, 3],
  )
  source.flush()
  source.flush()
  assert.deepEqual(
    emitted.map(({ count }) => count),
    [3, 3, 1],
  )
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ rx }) => rx)),
    [0n, 1n, 2n, 3n, 4n, 5n, 6n],
  )
  for (const batch of emitted) {
    assert.equal(batch.type, port)
    assert.equal(batch.source, source.info)
    assert.equal(batch.clock, 'device')
    assert.equal(batch.bytes.length, batch.count * port.layout.recordBytes)
  }
})

test('keeps types apart', () => {
  const { source, emitted } = recordingSource()
  source.report(port, record(1))
  source.report(tiny, { n: 2 })
  source.report(port, record(3))
  source.flush()
  assert.deepEqual(
    emitted.map(({ type, count }) => [type.name, count]),
    [
      ['port', 2],
      ['tiny', 1],
    ],
  )
})

test('says who it is, once and for good', () => {
  const { source } = recordingSource({ id: 'host', tag: 'rack 7', labels: { node: 'n1' } })
  const { id, tag, labels } = source.info
  assert.deepEqual({ id, tag, labels }, { id: 'host', tag: 'rack 7', labels: { node: 'n1' } })
  assert.throws(() => Object.assign(source.info, { id: 'other' }), TypeError)
  assert.throws(() => Object.assign(source.info.labels, { node: 'other' }), TypeError)
})

property('packed records pass through report in order, split only between records', 50, (random) => {
  const capacity = random.integer(1, 9)
  const { source, emitted } = recordingSource({ bufferBytes: Math.max(8, capacity) })
  const numbers: number[] = []
  while (numbers.length < 100) {
    if (random.chance(0.3)) {
      source.report(tiny, { n: numbers.length })
      numbers.push(numbers.length)
      continue
    }
    const part = Array.from({ length: random.integer(0, 30) }, (_, i) => (numbers.length + i) & 0xff)
    source.report(tiny, Uint8Array.from(part), part.length)
    numbers.push(...part)
  }
  source.flush()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ n }) => n)),
    numbers,
  )
  for (const { count } of emitted.slice(0, -1)) assert.equal(count, Math.max(8, capacity))
})

test('report refuses bytes that are not whole records, and keeps nothing', () => {
  const { source, emitted } = recordingSource()
  const wrongs: [number, number][] = [
    [23, 1],
    [24, 2],
    [0, 1],
    [36, 1.5],
    [24, -1],
    [24, Number.NaN],
  ]
  for (const [bytes, count] of wrongs) {
    assert.throws(() => source.report(port, new Uint8Array(bytes), count), sondeError('SRC_BYTES', /of port/))
  }
  source.report(port, new Uint8Array(0), 0)
  source.flush()
  assert.deepEqual(emitted, [])
})

test('where one of many records is wrong, none is reported, and the error says which it is', () => {
  const { source, emitted } = recordingSource()
  source.report(tiny, { n: 9 })
  const records = [{ n: 1 }, { n: 2 }, { n: 256 }, { n: 4 }]
  const refused = sondeError('SRC_VALUE', /^record 2 of many: tiny\.n was given 256; .*; nothing of them is reported$/)
  assert.throws(() => source.report(tiny, records), refused)
  assert.throws(() => source.report(tiny, new Set(records)), refused)
  const early = [record(1), { ...record(2), time: 5n }]
  assert.throws(() => source.report(port, early), sondeError('SRC_VALUE', /^record 1 of many: port\.time/))
  const broken = new Error('broken')
  function* ending() {
    yield { n: 1 }
    throw broken
  }
  assert.throws(() => source.report(tiny, ending()), broken)
  source.flush()
  assert.deepEqual(
    emitted.flatMap((batch) => batch.records),
    [{ n: 9 }],
  )
})

test('what a full buffer emitted before a wrong record stays reported, and the error says how many that are', () => {
  const { source, emitted } = recordingSource({ bufferBytes: 8 })
  const numbers = Array.from({ length: 19 }, (_, n) => ({ n: n === 18 ? -1 : n }))
  source.report(tiny, [{ n: 100 }, { n: 101 }])
  assert.throws(
    () => source.report(tiny, numbers),
    sondeError(
      'SRC_VALUE',
      /^record 18 of many: .*; 14 before it are reported, since their buffer was full; no other is$/,
    ),
  )
  source.report(tiny, { n: 102 })
  source.flush()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ n }) => n)),
    [100, 101, ...Array.from({ length: 14 }, (_, n) => n), 102],
  )
})

test('report takes a record, any iterable of records, or packed bytes, with or without their count', () => {
  const { source, emitted } = recordingSource({ types: [port, tiny] })
  function* numbers(from: number, to: number) {
    for (let n = from; n < to; n++) yield { n }
  }
  source.report(tiny, { n: 0 })
  source.report(tiny, [{ n: 1 }, { n: 2 }])
  source.report(tiny, numbers(3, 5))
  source.report(tiny, new Set([{ n: 5 }]))
  source.report(tiny, Uint8Array.of(6, 7))
  source.report(tiny, Buffer.from([8]), 1)
  source.report(1, { n: 9 })
  source.report(1, [{ n: 10 }])
  source.report(1, Uint8Array.of(11), 1)
  source.report(tiny, [])
  source.flush()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ n }) => n)),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  )
  assert.throws(() => source.report(port, Buffer.alloc(25)), sondeError('SRC_BYTES', /25 bytes/))
  assert.throws(() => source.report(1, [{ n: 1 }], 1), sondeError('SRC_BYTES', /without packed bytes/))
  for (const view of [new Float64Array(3), new DataView(new ArrayBuffer(24))]) {
    assert.throws(() => source.report(1, view), sondeError('SRC_BYTES', /a Uint8Array/))
  }
  for (const wrong of [null, undefined, 5, 'text', [null], [5], new Set([null]), new Map([[1, 2]])]) {
    assert.throws(() => source.report(1, wrong as object), sondeError('SRC_VALUE'), String(wrong))
  }
})

test('many records may be of a type of which every field is optional', () => {
  const { source, emitted } = recordingSource()
  const loose = defineType('loose', '', { n: optional(value('u8')) })
  source.report(loose, new Set([{ n: 1 }, {}]))
  source.report(loose, {})
  source.flush()
  assert.deepEqual(emitted[0]?.records, [{ n: 1 }, {}, {}])
})

test('records that a source closes amid are refused from there on', () => {
  const { source, emitted } = recordingSource()
  function* records() {
    yield { n: 1 }
    source.close()
    yield { n: 2 }
  }
  assert.throws(() => source.report(tiny, records()), sondeError('SRC_CLOSED'))
  assert.deepEqual(emitted[0]?.records, [{ n: 1 }])
})

test('what is buffered is emitted after an interval too, and not once the source is closed', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { source, emitted } = recordingSource({ flushIntervalMs: 100 })
  source.report(tiny, { n: 1 })
  t.mock.timers.tick(99)
  assert.equal(emitted.length, 0)
  t.mock.timers.tick(1)
  assert.equal(emitted.length, 1)
  source.close()
  t.mock.timers.tick(1000)
  assert.equal(emitted.length, 1)
})

test('flush and close resolve once what was emitted is acknowledged, and emit before they return', async () => {
  const waits: PromiseWithResolvers<void>[] = []
  const acknowledge = () => {
    const wait = Promise.withResolvers<void>()
    waits.push(wait)
    return wait.promise
  }
  const { source, emitted } = recordingSource({ acknowledge })
  source.report(tiny, { n: 1 })
  const flushed = source.flush()
  assert.equal(emitted.length, 1)
  waits[0]?.resolve()
  await flushed
  source.report(tiny, { n: 2 })
  const closed = source.close()
  assert.equal(source.close(), closed)
  assert.equal(source.flush(), closed)
  waits[1]?.reject(new Error('lost'))
  await assert.rejects(closed, /lost/)
  assert.deepEqual([waits.length, emitted.length, source.stats.errors], [2, 2, 1])
})

test('losses are told also where the buffer is smaller than a record of theirs', () => {
  const { source, emitted } = recordingSource({ bufferBytes: 8, symbolLimit: 2 })
  const named = defineType('named', '', { name: label() })
  source.report(named, { name: 'a' })
  source.close()
  assert.deepEqual(
    emitted.map(({ type }) => type.name),
    ['sonde_loss'],
  )
})

test('close flushes, may come twice, and ends reporting', () => {
  const { source, emitted } = recordingSource()
  source.report(tiny, { n: 1 })
  source.bind(port, { device: 'eth0' }).counter('rx').add()
  source.close()
  source.close()
  assert.equal(emitted.length, 1)
  for (const late of [
    () => source.report(tiny, { n: 1 }),
    () => source.report(port, record(1)),
    () => source.report(tiny, new Uint8Array(1), 1),
    () => source.bind(port, { device: 'eth1' }),
  ]) {
    assert.throws(late, sondeError('SRC_CLOSED', /source test is closed/))
  }
  source.collect()
  source.flush()
  assert.equal(emitted.length, 1)
})

test('refuses options out of range', () => {
  const emit = () => assert.fail('nothing was reported')
  const wrongs = [
    [{ id: '' }, 'SRC_ID'],
    [{ id: 'x'.repeat(201) }, 'SRC_ID'],
    [{ bufferBytes: 7 }, 'SRC_BUFFER_BYTES'],
    [{ bufferBytes: (64 << 20) + 1 }, 'SRC_BUFFER_BYTES'],
    [{ bufferBytes: Number.NaN }, 'SRC_BUFFER_BYTES'],
    [{ bufferBytes: '60000' }, 'SRC_BUFFER_BYTES'],
    [{ rowLimit: '5' }, 'SRC_OPTION'],
    [{ flushIntervalMs: '5' }, 'SRC_OPTION'],
    [{ rowLimit: 0 }, 'SRC_OPTION'],
    [{ rowLimit: Number.NaN }, 'SRC_OPTION'],
    [{ intervalMs: -1 }, 'SRC_OPTION'],
    [{ intervalMs: 86_400_001 }, 'SRC_OPTION'],
    [{ symbolLimit: 1 }, 'SCH_LIMIT'],
    [{ id: 5 }, 'SRC_ID'],
    [{ labels: { n: 5 } }, 'SRC_OPTION'],
    [{ labels: null }, 'SRC_OPTION'],
    [{ labels: JSON.parse('{"__proto__": "x"}') }, 'SRC_OPTION'],
    [{ tag: 7 }, 'SRC_OPTION'],
    [{ tag: 'x'.repeat(4097) }, 'SRC_OPTION'],
    [{ emit: undefined }, 'SRC_OPTION'],
    [{ types: 'port' }, 'SRC_OPTION'],
    [{ types: [{}] }, 'SRC_OPTION'],
    [{ types: [{ layout: 1 }] }, 'SRC_OPTION'],
    [{ onLoss: 'port' }, 'SRC_OPTION'],
    [{ clock: 'walk' }, 'SRC_OPTION'],
    [{ flushIntervalMs: -1 }, 'SRC_OPTION'],
    [{ flushIntervalMs: 3_600_001 }, 'SRC_OPTION'],
    [{ acknowledge: 5 }, 'SRC_OPTION'],
  ] as const
  for (const [options, code] of wrongs) {
    assert.throws(
      () => createSource({ id: 'test', emit, ...options } as SourceOptions),
      sondeError(code),
      JSON.stringify(options),
    )
  }
  for (const given of [undefined, null, 'test']) {
    assert.throws(() => createSource(given as never), sondeError('SRC_OPTION', /an object of its options/))
  }
})

test('a record that is larger than the buffer is refused when it is first reported', () => {
  const { source } = recordingSource({ bufferBytes: 16 })
  assert.throws(() => source.report(port, record(1)), sondeError('SRC_RECORD_SIZE', /24 bytes, the buffer 16/))
})

test('records whose label finds the symbol table full are left out, counted and told; known series go on', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 4 })
  // Whoever asks for the table keeps it: it is not replaced.
  assert.ok(source.symbols.count > 0)
  const devices = ['a', 'b', 'c', 'd', 'a', 'c']
  devices.forEach((device, n) => {
    source.report(port, { time: T0, device, rx: n })
  })
  source.flush()
  const records = emitted.flatMap((batch) => batch.records)
  assert.deepEqual(
    records.filter(({ rx }) => rx !== undefined).map(({ device, rx }) => [device, rx]),
    [
      ['a', 0n],
      ['b', 1n],
      ['a', 4n],
    ],
  )
  assert.deepEqual([...source.stats.dropped], [['symbol_limit', 3]])
  const { time: _, ...loss } = records.at(-1) ?? {}
  assert.deepEqual(loss, { component: 'test', reason: 'symbol_limit', records_total: 3n })
  source.report(port, { time: T0, device: 'e', rx: 7 })
  source.close()
  assert.equal(emitted.at(-1)?.records[0]?.records_total, 4n)
})

test('losses are told with bound rows too, and bind says what to do about a full symbol table', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 3 })
  source.bind(port, { device: 'a' }).counter('rx').set(1)
  assert.throws(() => source.bind(port, { device: 'b' }), sondeError('SRC_SYMBOL_LIMIT', /raise symbolLimit/))
  source.report(port, { time: T0, device: 'b', rx: 1 })
  source.collect()
  assert.deepEqual(
    emitted.map(({ type, count }) => [type.name, count]),
    [
      ['port', 1],
      ['sonde_loss', 1],
    ],
  )
})

test('who takes the losses of a source tells of them himself', () => {
  const losses: [string, number][] = []
  const { source, emitted } = recordingSource({ symbolLimit: 2, onLoss: (...loss) => losses.push(loss) })
  source.report(port, record(1))
  source.close()
  assert.deepEqual([losses, emitted], [[['symbol_limit', 1]], []])
})

test('a full table of labels is replaced: nothing is dropped, each batch has its own, and rows go on', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 5 })
  const report = source.reporter(port, ['time', 'device', 'rx'])
  const bound = source.bind(port, { device: 'bound' }).counter('rx')
  const wanted: [string, bigint][] = []
  for (let n = 0; n < 100; n++) {
    const device = `device ${n % 7}`
    wanted.push([device, BigInt(n)])
    if (n % 2 === 0) source.report(port, { time: T0, device, rx: n })
    else report(T0, device, n)
    if (n % 10 !== 0) continue
    bound.add()
    source.emit()
    source.collect()
    wanted.push(['bound', BigInt(n / 10 + 1)])
  }
  source.close()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ device, rx }) => [device, rx])),
    wanted,
  )
  assert.deepEqual([...source.stats.dropped], [])
  const sources = new Set(emitted.map((batch) => batch.source))
  assert.ok(sources.size > 10, `${sources.size} tables`)
  assert.equal(new Set([...sources].map(({ owner }) => owner)).size, 1)
})

test('rows that fill the table of labels do not have it replaced for each new label', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 10 })
  for (let n = 0; n < 7; n++)
    source
      .bind(port, { device: `bound ${n}` })
      .counter('rx')
      .set(1)
  for (let n = 0; n < 100; n++) {
    source.collect()
    source.report(port, { time: T0, device: `device ${n}`, rx: n })
  }
  source.close()
  assert.ok(new Set(emitted.map((batch) => batch.source)).size <= 2)
  assert.equal(source.stats.dropped.get('symbol_limit'), 98)
})

const noted = defineType('noted', '', { note: text(), more: optional(text()) })

test('text that does not identify takes no room of labels: a full table of texts is replaced, and each batch has its own', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 2, textLimit: 2 })
  const report = source.reporter(noted, ['note'])
  const notes = ['a', 'b', 'a', '', 'b', 'c', 'a', 'a', 'd']
  for (const [i, note] of notes.entries()) i % 2 === 0 ? source.report(noted, { note }) : report(note)
  source.flush()
  assert.deepEqual(
    emitted.map(({ records }) => records.map(({ note }) => note)),
    [
      ['a', 'b'],
      ['a', '', 'b'],
      ['c', 'a'],
      ['a', 'd'],
    ],
  )
  assert.deepEqual([source.symbols.overflowed, source.stats.dropped.size], [0, 0])
})

test('a record with more texts than the table takes is whole, and so is the one after it', () => {
  const { source, emitted } = recordingSource({ textLimit: 1 })
  source.report(noted, [
    { note: 'a', more: 'b' },
    { note: 'b', more: 'a' },
  ])
  source.flush()
  assert.deepEqual(
    emitted.map(({ records }) => records),
    [[{ note: 'a', more: 'b' }], [{ note: 'b', more: 'a' }]],
  )
})

test('texts of 4 MiB are replaced too, and batches that are kept are read with what they came with', () => {
  const { source, emitted } = recordingSource()
  const notes = Array.from({ length: 3000 }, (_, i) => String(i).padEnd(4000, '.'))
  for (const note of notes) source.report(noted, { note })
  source.flush()
  assert.ok(new Set(emitted.map(({ symbols }) => symbols)).size >= 5)
  const read = emitted.flatMap(({ type, bytes, count, symbols }) => [
    ...readRecords(type, viewsOf(bytes), count, symbols),
  ])
  assert.deepEqual(
    read.map(({ note }) => note),
    notes,
  )
  for (const { symbols } of emitted) assert.ok(symbols.textBytes < 5 << 20)
})

test('a field that the type has not is refused in every record, with what it has', () => {
  const { source, emitted } = recordingSource()
  const misspelt = { ...record(1), rc: 5 }
  assert.throws(() => source.report(port, misspelt), sondeError('SRC_VALUE', /no field "rc"; it has: time, device, rx/))
  source.report(port, record(2))
  assert.throws(() => source.report(port, misspelt), sondeError('SRC_VALUE'))
  source.flush()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ rx }) => rx)),
    [2n],
  )
})

test('a field that the type has not is found among optional ones and in nested records', () => {
  const { source, emitted } = recordingSource()
  const inner = defineType('inner', '', { a: value('u8') })
  const outer = defineType('outer', '', { n: value('u8'), more: optional(value('u8')), one: nested(inner) })
  const sparse = defineType('sparse', '', { n: value('u8'), more: optional(value('u8')) })
  for (let i = 0; i < 2; i++) {
    source.report(sparse, { n: 1 })
    source.report(sparse, { n: 1, more: undefined })
    source.report(outer, { n: 1, one: { a: 1 } })
    const wrong = { n: 1, mroe: 2 }
    assert.throws(() => source.report(sparse, wrong), sondeError('SRC_VALUE', /no field "mroe"; it has: n, more/))
    const deep = { n: 1, one: { a: 1, b: 2 } }
    assert.throws(() => source.report(outer, deep), sondeError('SRC_VALUE', /outer\.one has no field "b"/))
  }
  source.flush()
  assert.deepEqual(
    emitted.map(({ count }) => count),
    [4, 2],
  )
})

test('packed bytes with a time before 2000 are refused with the record, and nothing of them is kept', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('packed', '', { n: value('u8'), time: timestamp('us') }, { layout: 'packed' })
  const bytes = new Uint8Array(9 * 3)
  const data = new DataView(bytes.buffer)
  for (const i of [0, 1]) data.setBigUint64(i * 9 + 1, 1_790_000_000_000_000n, true)
  const message = /packed\.time of record 2 was given 0, which is 1970-01-01T00:00:00.000Z; allowed: microseconds/
  assert.throws(() => source.report(type, bytes), sondeError('SRC_VALUE', message))
  data.setBigUint64(19, 1_790_000_000_000_001n, true)
  source.report(type, bytes)
  source.flush()
  assert.deepEqual(
    emitted.map(({ count }) => count),
    [3],
  )
  const device = recordingSource({ clock: 'device' })
  device.source.report(type, new Uint8Array(9))
})

test('what a source of another clock says itself has times of the wall clock', () => {
  const { source, emitted } = recordingSource({ clock: 'device', intervalMs: 500 })
  const named = defineType('named', '', { time: timestamp(), name: label() })
  source.report(named, { time: 1n, name: 'a' })
  source.countLoss('symbol_limit')
  source.emit()
  const clocks = Map.groupBy(emitted, ({ type }) => type.name)
  const of = (name: string) => [...new Set(clocks.get(name)?.map(({ clock }) => clock))]
  assert.deepEqual([of('named'), of('sonde_period'), of('sonde_loss')], [['device'], ['wall'], ['wall']])
})

test('a time before 2000 is refused on the wall clock: milliseconds, say, that were given for nanoseconds', () => {
  const { source, emitted } = recordingSource()
  const micro = defineType('micro', '', { time: timestamp('us'), n: value('u8') })
  const packed = defineType('packed', '', { n: value('u8'), time: timestamp() }, { layout: 'packed' })
  const ms = 1_790_000_000_000
  const message = /time was given 1790000000000, which is 1970-01-01T00:29:50.000Z; allowed: nanoseconds since/
  assert.throws(() => source.report(port, { ...record(1), time: ms }), sondeError('SRC_VALUE', message))
  assert.throws(() => source.report(micro, { time: ms, n: 1 }), sondeError('SRC_VALUE', /allowed: microseconds/))
  assert.throws(() => source.report(packed, { time: ms, n: 1 }), sondeError('SRC_VALUE'))
  assert.throws(() => source.collect(BigInt(ms)), sondeError('SRC_VALUE', /nanoseconds/))
  source.report(micro, { time: ms * 1000, n: 1 })
  source.report(packed, { time: BigInt(ms) * 1_000_000n, n: 1 })
  source.flush()
  assert.equal(emitted.length, 2)
  const device = recordingSource({ clock: 'device' })
  device.source.report(port, { ...record(1), time: 5 })
  device.source.collect(5n)
})

test('a label that no service takes is refused where the source is made, and Sonde itself may say simulated', () => {
  const make = (labels: Record<string, string>) => createSource({ id: 'a', labels, emit: () => undefined })
  for (const name of ['a b/c', '', '1a', 'a.b', 'x'.repeat(129)]) {
    const fault = /labels of a source is ".*"; allowed: names of letters, digits and _, at most 128/
    assert.throws(() => make({ [name]: 'x' }), sondeError('SRC_OPTION', fault))
  }
  assert.throws(() => make({ a: 'x'.repeat(4097) }), sondeError('SRC_OPTION', /labels\.a .* at most 4096 characters/))
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`l${i}`, '']))
  assert.throws(() => make(many), sondeError('SRC_OPTION', /"257 labels"; allowed: 256 labels/))
  const labels = { simulated: 'true' }
  assert.throws(() => make(labels), sondeError('SCH_LABEL_NAME', /source "a": the label simulated is Sonde's own/))
  assert.deepEqual(createOwnSource({ id: 'a', labels, emit: () => undefined }).info.labels, labels)
  const posing = () => defineType('posing', '', { time: timestamp(), simulated: label() })
  assert.throws(posing, sondeError('SCH_LABEL_NAME', /posing\.simulated: the label simulated is Sonde's own/))
  assert.equal(defineType('posing', '', { simulated: value('u8') }).labels.length, 0)
})

test('text of more than 4096 characters is cut and counted, and told once a source', async () => {
  const warnings: string[] = []
  const note = (warning: Error & { code?: string }) => {
    if (warning.code === 'SRC_TEXT_CUT') warnings.push(warning.message)
  }
  process.on('warning', note)
  const { source, emitted } = recordingSource({ id: 'wordy' })
  const long = 'x'.repeat(4097)
  source.report(port, { ...record(1), device: 'x'.repeat(4096) })
  assert.equal(source.symbols.cut, 0)
  source.report(port, { ...record(2), device: long })
  source.bind(port, { device: `${long}y` })
  source.flush()
  await new Promise(setImmediate)
  process.off('warning', note)
  assert.equal(source.symbols.cut, 2)
  assert.deepEqual([warnings.length, emitted[0]?.records[1]?.device], [1, 'x'.repeat(4096)])
  assert.match(warnings[0] ?? '', /^source wordy was given a label or text of more than 4096 characters/)
})

test('says how many records of a type, or of its index, fit, and refuses what is no type', () => {
  const { source } = recordingSource({ bufferBytes: 24 * 3, types: [port] })
  assert.deepEqual([source.capacityFor(0), source.capacityFor(port), source.capacityFor(tiny)], [3, 3, 72])
  for (const given of [1, -1, 0.5, undefined, null, {}]) {
    const capacity = () => Reflect.apply(source.capacityFor, source, [given])
    assert.throws(capacity, sondeError('SRC_TYPE', /allowed: one of its types, or the index of one, below 1/))
  }
})
