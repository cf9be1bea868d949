import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { array, chars, counter, gauge, label, labelNumber, optional, text, timestamp, value } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import type { Row } from './table.ts'

const port = defineType('port', '', {
  time: timestamp(),
  device: label(),
  port: labelNumber('u8'),
  rx: counter('u64'),
  celsius: optional(gauge('f64')),
  drops: optional(counter('u64')),
})

const eth0 = { device: 'eth0', port: '1' }

test('collect sends the current row of every series, stamped', () => {
  const { source, emitted } = recordingSource()
  source.bind(port, eth0).counter('rx').add(5)
  source.bind(port, { device: 'eth1', port: '2' }).counter('rx').set(7)
  source.collect(99n)
  assert.deepEqual(emitted[0]?.records, [
    { time: 99n, device: 'eth0', port: 1, rx: 5n },
    { time: 99n, device: 'eth1', port: 2, rx: 7n },
  ])
})

test('a timestamp in microseconds is stamped in microseconds, and a type without one is not stamped', () => {
  const { source, emitted } = recordingSource()
  source.bind(defineType('us', '', { n: value('u8'), time: timestamp('us') }), {})
  source
    .bind(defineType('none', '', { n: counter('u64') }), {})
    .counter('n')
    .add(3)
  source.collect(1_234_567n)
  assert.deepEqual(
    emitted.map(({ records }) => records),
    [[{ n: 0, time: 1234n }], [{ n: 3n }]],
  )
})

test('the same labels are the same row, in whatever order they are written', () => {
  const { source } = recordingSource()
  const row = source.bind(port, eth0)
  assert.equal(source.bind(port, { port: '1', device: 'eth0' }), row)
  assert.notEqual(source.bind(port, { device: 'eth0', port: '2' }), row)
})

test('an optional field is absent until a handle writes it', () => {
  const { source, emitted } = recordingSource()
  const row = source.bind(port, eth0)
  const celsius = row.gauge('celsius')
  source.collect(1n)
  celsius.set(41.5)
  row.counter('drops').add(2)
  source.collect(2n)
  assert.deepEqual(
    emitted.map(({ records }) => records[0]),
    [
      { time: 1n, device: 'eth0', port: 1, rx: 0n },
      { time: 2n, device: 'eth0', port: 1, rx: 0n, celsius: 41.5, drops: 2n },
    ],
  )
})

test('u64 handles are exact beyond 2^53, carry between words, and wrap like the hardware', () => {
  const { source, emitted } = recordingSource()
  const rx = source.bind(port, eth0).counter('rx')
  const expect = (expected: bigint) => {
    source.collect(0n)
    assert.equal(emitted.at(-1)?.records[0]?.rx, expected)
  }
  rx.set(2 ** 32 - 1)
  rx.add()
  expect(2n ** 32n)
  rx.set(2 ** 53)
  rx.add(1)
  rx.add(2 ** 33 + 5)
  expect(2n ** 53n + 2n ** 33n + 6n)
  rx.set(2 ** 64 - 2048)
  rx.add(2047)
  expect(2n ** 64n - 1n)
  rx.add(1)
  expect(0n)
})

test('handles refuse what is no value of the field, and keep the old one', () => {
  const { source, emitted } = recordingSource()
  const row = source.bind(port, eth0)
  const rx = row.counter('rx')
  const celsius = row.counter('celsius')
  rx.set(7)
  celsius.set(1)
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 64, Number.POSITIVE_INFINITY]) {
    assert.throws(() => rx.set(wrong), sondeError('SRC_VALUE', /port\{device="eth0",port="1"\}/))
    assert.throws(() => rx.add(wrong), sondeError('SRC_VALUE'))
  }
  for (const wrong of [-1, Number.NaN]) assert.throws(() => celsius.add(wrong), sondeError('SRC_VALUE'))
  source.collect(0n)
  assert.deepEqual(emitted[0]?.records, [{ time: 0n, device: 'eth0', port: 1, rx: 7n, celsius: 1 }])
})

test('there are no handles for fields that are not there, not scalar, or of another kind', () => {
  const { source } = recordingSource()
  const type = defineType('t', '', { name: label(), n: gauge('u32'), many: array(gauge('u64'), 2) })
  const row = source.bind(type, { name: 'a' })
  for (const field of ['missing', 'many', 'n', 'name']) {
    assert.throws(() => row.gauge(field), sondeError('SRC_BIND', new RegExp(field)))
  }
})

test('labels are checked: all of them, no others, numbers in their one spelling', () => {
  const { source, emitted } = recordingSource()
  const wrongs = [
    [{ device: 'eth0' }, 'SRC_VALUE'],
    [{ ...eth0, speed: '1' }, 'SRC_BIND'],
    [{ ...eth0, port: '' }, 'SRC_VALUE'],
    [{ ...eth0, port: '01' }, 'SRC_VALUE'],
    [{ ...eth0, port: '256' }, 'SRC_VALUE'],
    [{ ...eth0, port: 'one' }, 'SRC_VALUE'],
    [{ ...eth0, port: '-0' }, 'SRC_VALUE'],
  ] as const
  for (const [labels, code] of wrongs) {
    assert.throws(() => source.bind(port, labels), sondeError(code), JSON.stringify(labels))
  }
  source.collect(0n)
  assert.deepEqual(emitted, [])
})

test('every other field of a new row is empty, whatever its kind', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', {
    part: chars(8),
    note: text(),
    tag: chars(4, { role: 'value' }),
    on: value('bool'),
    flags: array(value('bool'), 2),
    bins: array(counter('u64'), 2),
    f: value('f32'),
    gone: optional(value('u8')),
  })
  source.bind(type, { part: 'A' })
  source.collect(0n)
  const empty = { part: 'A', note: '', tag: '', on: false, flags: [false, false], bins: [0n, 0n], f: 0 }
  assert.deepEqual(emitted[0]?.records, [empty])
})

test('a packed type cannot be bound', () => {
  const packed = defineType('t', '', { n: value('u64') }, { layout: 'packed' })
  assert.throws(() => recordingSource().source.bind(packed, {}), sondeError('SRC_BIND', /packed/))
})

test('the number of rows is bounded, and released ones make room', () => {
  const { source } = recordingSource({ rowLimit: 2 })
  const bind = (n: number) => source.bind(port, { device: 'eth0', port: `${n}` })
  const first = bind(1)
  bind(2)
  assert.throws(() => bind(3), sondeError('SRC_ROW_LIMIT', /2 bound rows/))
  assert.equal(bind(1), first)
  first.release()
  bind(3)
})

test('a released row is no longer collected, its handles do nothing, and bound again it is new', () => {
  const { source, emitted } = recordingSource()
  const row = source.bind(port, eth0)
  const rx = row.counter('rx')
  rx.set(9)
  row.release()
  row.release()
  rx.set(10)
  rx.add(1)
  row.gauge('celsius').set(1)
  source.collect(0n)
  assert.equal(emitted.length, 0)
  assert.notEqual(source.bind(port, eth0), row)
  rx.add(1)
  source.collect(0n)
  assert.deepEqual(emitted[0]?.records, [{ time: 0n, device: 'eth0', port: 1, rx: 0n }])
})

property('rows bound, written and released in any order hold what was written to them', 50, (random) => {
  const { source, emitted } = recordingSource()
  const live = new Map<number, { row: Row; rx: bigint; celsius: number | undefined }>()
  for (let step = 0; step < 300; step++) {
    const n = random.integer(0, 60)
    const known = live.get(n)
    if (known === undefined) {
      live.set(n, { row: source.bind(port, { device: `d${n}`, port: `${n}` }), rx: 0n, celsius: undefined })
    } else if (random.chance(0.25)) {
      known.row.release()
      live.delete(n)
    } else if (random.chance(0.5)) {
      const amount = random.integer(0, 2 ** 40)
      known.row.counter('rx').add(amount)
      known.rx += BigInt(amount)
    } else {
      known.celsius = random.next()
      known.row.gauge('celsius').set(known.celsius)
    }
  }
  source.collect(5n)
  const collected = new Map(emitted[0]?.records.map((record) => [record.port, record]))
  assert.equal(collected.size, live.size)
  for (const [n, { rx, celsius }] of live) {
    const expected = { time: 5n, device: `d${n}`, port: n, rx }
    assert.deepEqual(collected.get(n), celsius === undefined ? expected : { ...expected, celsius })
  }
})
