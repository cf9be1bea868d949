import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import {
  array,
  chars,
  counter,
  gauge,
  type Integer64,
  label,
  labelNumber,
  type NumericKind,
  optional,
  text,
  timestamp,
} from '../schema/field.ts'
import { defineType, type Fields } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import type { Row } from './table.ts'

const port = defineType('port', '', {
  time: timestamp(),
  device: label(),
  port: labelNumber('u8'),
  rx: counter('u64'),
  celsius: optional(gauge('f64')),
  drops: optional(counter('u64')),
  joules: optional(counter('f64')),
})

const T0 = 1_800_000_000_000_000_000n
const eth0 = { device: 'eth0', port: '1' }

test('collect sends the current row of every series, stamped', () => {
  const { source, emitted } = recordingSource()
  source.bind(port, eth0).counter('rx').add(5)
  source.bind(port, { device: 'eth1', port: '2' }).counter('rx').set(7)
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [
    { time: T0, device: 'eth0', port: 1, rx: 5n },
    { time: T0, device: 'eth1', port: 2, rx: 7n },
  ])
})

test('a timestamp in microseconds is stamped in microseconds, and a type without one is not stamped', () => {
  const { source, emitted } = recordingSource()
  source.bind(defineType('us', '', { n: counter('u8'), time: timestamp('us') }), {})
  source
    .bind(defineType('none', '', { n: counter('u64') }), {})
    .counter('n')
    .add(3)
  source.collect(T0 + 1999n)
  assert.deepEqual(
    emitted.map(({ records }) => records),
    [[{ n: 0, time: T0 / 1000n + 1n }], [{ n: 3n }]],
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
  source.collect(T0)
  celsius.set(41.5)
  row.counter('drops').add(2)
  source.collect(T0 + 1n)
  assert.deepEqual(
    emitted.map(({ records }) => records[0]),
    [
      { time: T0, device: 'eth0', port: 1, rx: 0n },
      { time: T0 + 1n, device: 'eth0', port: 1, rx: 0n, celsius: 41.5, drops: 2n },
    ],
  )
})

test('u64 handles are exact beyond 2^53, carry between words, and wrap like the hardware', () => {
  const { source, emitted } = recordingSource()
  const rx = source.bind(port, eth0).counter('rx')
  const expect = (expected: bigint) => {
    source.collect(T0)
    assert.equal(emitted.at(-1)?.records[0]?.rx, expected)
  }
  rx.set(2 ** 32 - 1)
  rx.add()
  expect(2n ** 32n)
  rx.set(2n ** 53n)
  rx.add(1)
  rx.add(2 ** 33 + 5)
  expect(2n ** 53n + 2n ** 33n + 6n)
  rx.set(2n ** 64n - 2048n)
  rx.add(2047)
  expect(2n ** 64n - 1n)
  rx.add(1)
  expect(0n)
})

test('handles refuse what is no value of the field, and keep the old one', () => {
  const { source, emitted } = recordingSource()
  const row = source.bind(port, eth0)
  const rx = row.counter('rx')
  const celsius = row.gauge('celsius')
  const joules = row.counter('joules')
  rx.set(7)
  celsius.set(1)
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53, 2 ** 64, Number.POSITIVE_INFINITY]) {
    assert.throws(() => rx.set(wrong), sondeError('SRC_VALUE', /port\.rx of \{device="eth0",port="1"\}/))
    assert.throws(() => rx.add(wrong), sondeError('SRC_VALUE'))
  }
  for (const wrong of [-1, Number.NaN]) assert.throws(() => joules.add(wrong), sondeError('SRC_VALUE'))
  for (const wrong of [undefined, null, '5', true, {}] as never[]) {
    for (const handle of [rx, celsius, joules]) assert.throws(() => handle.set(wrong), sondeError('SRC_VALUE'))
  }
  assert.throws(() => joules.add(1n), sondeError('SRC_VALUE', /was given 1n; allowed: a number/))
  for (const wrong of [null, '5', true, -1n, 2n ** 64n] as never[]) {
    for (const handle of [rx, joules]) assert.throws(() => handle.add(wrong), sondeError('SRC_VALUE'))
  }
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [{ time: T0, device: 'eth0', port: 1, rx: 7n, celsius: 1 }])
})

test('there are no handles for what is not there, is no number, or has another role', () => {
  const { source } = recordingSource()
  const type = defineType('t', '', {
    time: timestamp(),
    name: label(),
    part: labelNumber('u8'),
    total: counter('u64'),
    level: gauge('u32'),
    many: optional(array(gauge('u64'), 2)),
    note: optional(text()),
  })
  const row = source.bind(type, { name: 'a', part: '1' })
  for (const field of ['missing', 'time', 'name', 'part', 'many', 'note', 'level', 'toString']) {
    assert.throws(() => row.counter(field), sondeError('SRC_BIND', new RegExp(`t.${field} is .*one of: total$`)))
  }
  for (const field of ['missing', 'time', 'name', 'part', 'many', 'note', 'total']) {
    assert.throws(() => row.gauge(field), sondeError('SRC_BIND', new RegExp(`t.${field} is .*one of: level$`)))
  }
})

const KINDS: readonly [NumericKind | 'bool', readonly Integer64[], readonly Integer64[]][] = [
  ['u8', [0, 255], [-1, 256, 0.5, 1n]],
  ['i8', [-128, 127], [-129, 128, Number.NaN]],
  ['u16', [0, 65_535], [-1, 65_536]],
  ['i16', [-32_768, 32_767], [32_768]],
  ['u32', [0, 2 ** 32 - 1], [-1, 2 ** 32]],
  ['i32', [-(2 ** 31), 2 ** 31 - 1], [2 ** 31]],
  ['u64', [0, 2 ** 53 - 1, 2n ** 60n + 1n, 2n ** 64n - 1n], [-1n, 2n ** 64n, 2 ** 53, 2 ** 64]],
  ['i64', [-(2 ** 53) + 1, -(2n ** 63n), 2n ** 63n - 1n], [2 ** 53, 2n ** 63n, 0.5]],
  ['f32', [0.5, -1, Number.POSITIVE_INFINITY], [1n, 1e300]],
  ['f64', [0.1, Number.NEGATIVE_INFINITY, Number.NaN], [1n]],
  ['bool', [1, 0], [2, -1]],
]
for (const [kind, rights, wrongs] of KINDS) {
  test(`a gauge of kind ${kind} holds what it is set to, and refuses what it cannot hold`, () => {
    const { source, emitted } = recordingSource()
    const type = defineType('t', '', { before: gauge('u8'), level: gauge(kind), after: optional(gauge(kind)) })
    const row = source.bind(type, {})
    const level = row.gauge('level')
    row.gauge('before').set(7)
    for (const right of rights) {
      level.set(right)
      for (const wrong of wrongs) assert.throws(() => level.set(wrong), sondeError('SRC_VALUE', /t\.level/))
      source.collect()
      const expected = kind === 'bool' ? right === 1 : kind.endsWith('64') && kind !== 'f64' ? BigInt(right) : right
      assert.deepEqual(emitted.at(-1)?.records, [{ before: 7, level: expected }])
    }
  })
}

test('counters of every kind count, and those of integers wrap', () => {
  const wraps = { u8: 256, i8: 256, u16: 65_536, i16: 65_536, u32: 2 ** 32, i32: 2 ** 32, u64: 2 ** 64, i64: 2 ** 64 }
  for (const kind of ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64'] as const) {
    const { source, emitted } = recordingSource()
    const total = source.bind(defineType('t', '', { total: counter(kind) }), {}).counter('total')
    const reads = () => {
      source.collect()
      return Number(emitted.at(-1)?.records[0]?.total)
    }
    total.add()
    total.add(2)
    assert.equal(reads(), 3, kind)
    if (kind === 'f32' || kind === 'f64') continue
    const largest = KINDS.find(([one]) => one === kind)?.[1].at(-1) ?? 0
    total.set(largest)
    total.add(1)
    assert.equal(reads(), Number(BigInt(largest) + 1n - BigInt(wraps[kind])), kind)
  }
})

test('a row is collected once all its gauges were set; counters count from 0', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', { name: label(), total: counter('u64'), a: gauge('i32'), b: gauge('f64') })
  const rows = ['x', 'y', 'z'].map((name) => source.bind(type, { name }))
  const names = () => {
    emitted.splice(0)
    source.collect()
    return emitted.flatMap(({ records }) => records.map(({ name, total, a, b }) => [name, total, a, b]))
  }
  rows[1]?.counter('total').add(5)
  rows[1]?.gauge('a').set(-1)
  assert.deepEqual(names(), [])
  rows[1]?.gauge('a').set(-2)
  rows[1]?.gauge('b').set(0.5)
  rows[0]?.gauge('a').set(1)
  assert.deepEqual(names(), [['y', 5n, -2, 0.5]])
  rows[0]?.gauge('b').set(2)
  rows[2]?.release()
  rows[1]?.release()
  assert.deepEqual(names(), [['x', 0n, 1, 2]])
})

test('a type is not bound whose records need what handles do not write', () => {
  for (const field of [text(), chars(4, { role: 'value' }), array(gauge('u8'), 2)]) {
    const bind = (fields: Fields) => recordingSource().source.bind(defineType('t', '', fields), {})
    assert.throws(() => bind({ needed: field }), sondeError('SRC_BIND', /t\.needed .*make it optional, or use report/))
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
    [{ ...eth0, port: 300 }, 'SRC_VALUE'],
    [{ ...eth0, device: null }, 'SRC_VALUE'],
    [null, 'SRC_VALUE'],
    ['eth0', 'SRC_VALUE'],
  ] as const
  for (const [labels, code] of wrongs) {
    assert.throws(() => source.bind(port, labels as Labels), sondeError(code), JSON.stringify(labels))
  }
  source.collect(T0)
  assert.deepEqual(emitted, [])
})

test('a packed type cannot be bound', () => {
  const packed = defineType('t', '', { n: counter('u64') }, { layout: 'packed' })
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
  source.collect(T0)
  assert.equal(emitted.length, 0)
  assert.notEqual(source.bind(port, eth0), row)
  rx.add(1)
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [{ time: T0, device: 'eth0', port: 1, rx: 0n }])
})

property('rows bound, written and released in any order hold what was written to them', 50, (random) => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', {
    time: timestamp(),
    n: labelNumber('u8'),
    rx: counter('u64'),
    level: gauge('u16'),
    celsius: optional(gauge('f64')),
  })
  const live = new Map<number, { row: Row; rx: bigint; level: number | undefined; celsius: number | undefined }>()
  for (let step = 0; step < 300; step++) {
    const n = random.integer(0, 60)
    const known = live.get(n)
    if (known === undefined) {
      live.set(n, { row: source.bind(type, { n: `${n}` }), rx: 0n, level: undefined, celsius: undefined })
    } else if (random.chance(0.25)) {
      known.row.release()
      live.delete(n)
    } else if (random.chance(0.4)) {
      const amount = random.integer(0, 2 ** 40)
      known.row.counter('rx').add(amount)
      known.rx += BigInt(amount)
    } else if (random.chance(0.5)) {
      known.level = random.integer(0, 65_535)
      known.row.gauge('level').set(known.level)
    } else {
      known.celsius = random.next()
      known.row.gauge('celsius').set(known.celsius)
    }
  }
  source.collect(T0)
  const collected = new Map(emitted[0]?.records.map((record) => [record.n, record]))
  const complete = [...live].filter(([, { level }]) => level !== undefined)
  assert.equal(collected.size, complete.length)
  for (const [n, { rx, level, celsius }] of complete) {
    const expected = { time: T0, n, rx, level }
    assert.deepEqual(collected.get(n), celsius === undefined ? expected : { ...expected, celsius })
  }
})
