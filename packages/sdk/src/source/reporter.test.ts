import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyRecord, anyType } from '../../test/any-type.ts'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { array, label, nested, optional, text, timestamp, value } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'

const job = defineType('job', '', {
  time: timestamp('us'),
  queue: label(),
  n: value('u64'),
  note: optional(text()),
  left: optional(value('f64')),
})
const T0_US = 1_800_000_000_000_000

property('a reporter writes the bytes that report writes, whatever the order of its names', 200, (random) => {
  const type = anyType(random)
  // Room for some records of most types, and for one of the longest.
  const bufferBytes = Math.max(4096, type.layout.recordBytes)
  const [byObject, byPosition] = [recordingSource({ bufferBytes }), recordingSource({ bufferBytes })]
  const names = Object.keys(type.fields)
  for (let i = names.length - 1; i > 0; i--) {
    const j = random.integer(0, i)
    ;[names[i], names[j]] = [names[j] ?? '', names[i] ?? '']
  }
  const report = byPosition.source.reporter(type, names)
  for (let i = 0; i < 20; i++) {
    const record = anyRecord(random, type, 1_800_000_000_000 + i) as Record<string, unknown>
    byObject.source.report(type, record)
    report(...names.map((name) => record[name]))
  }
  byObject.source.flush()
  byPosition.source.flush()
  const plain = (batches: readonly object[]) => batches.map((batch) => ({ ...batch, arrivedMs: 0 }))
  assert.deepEqual(plain(byPosition.emitted), plain(byObject.emitted))
})

test('optional fields that are not named are absent, also where an earlier record had them', () => {
  const { source, emitted } = recordingSource({ bufferBytes: 200 })
  const full = { time: T0_US, queue: 'a', n: 1, note: 'x', left: 1 }
  for (let i = 0; i < source.capacityFor(job); i++) source.report(job, full)
  source.reporter(job, ['n', 'time', 'queue'])(2, T0_US, 'b')
  source.flush()
  assert.deepEqual(emitted.at(-1)?.records, [{ time: BigInt(T0_US), queue: 'b', n: 2n }])
  assert.ok(!emitted.at(-1)?.bytes.includes(0x3f), 'nothing is left of the 1 that was there')
})

test('reporters, report and packed bytes share a buffer and keep their order', () => {
  const tiny = defineType('tiny', '', { n: value('u8') }, { layout: 'packed' })
  const { source, emitted } = recordingSource({ bufferBytes: 8 })
  const [one, other] = [source.reporter(tiny, ['n']), source.reporter(tiny, ['n'])]
  for (let n = 0; n < 20; n += 4) {
    one(n)
    source.report(tiny, { n: n + 1 })
    other(n + 2)
    source.report(tiny, Uint8Array.of(n + 3), 1)
  }
  source.flush()
  assert.deepEqual(
    emitted.flatMap(({ records }) => records.map(({ n }) => n)),
    Array.from({ length: 20 }, (_, n) => n),
  )
})

test('nested records are given whole', () => {
  const inner = defineType('inner', '', { a: value('u8'), b: optional(value('u8')) })
  const outer = defineType('outer', '', {
    x: nested(inner),
    y: optional(array(nested(inner), 2) as never),
    n: value('u8'),
  })
  const { source, emitted } = recordingSource()
  source.reporter(outer, ['n', 'x'])(7, { a: 1 })
  source.flush()
  assert.deepEqual(emitted[0]?.records, [{ x: { a: 1 }, n: 7 }])
})

test('wrong values, early times and calls after close are refused as report refuses them', () => {
  const { source, emitted } = recordingSource()
  const report = source.reporter(job, ['time', 'queue', 'n', 'left'])
  const wrongs: [unknown[], RegExp][] = [
    [[T0_US, 'a', -1, 1], /job\.n was given -1/],
    [[T0_US, 5, 1, 1], /job\.queue was given 5/],
    [[T0_US, 'a', 1, null], /job\.left was given null/],
    [[T0_US, 'a'], /job\.n was given undefined/],
    [[T0_US / 1000, 'a', 1, 1], /allowed: microseconds since/],
  ]
  for (const [values, message] of wrongs) {
    assert.throws(() => report(...(values as Parameters<typeof report>)), sondeError('SRC_VALUE', message))
  }
  report(T0_US, 'a', 1, undefined)
  source.close()
  assert.deepEqual(
    emitted.map(({ records }) => records.length),
    [1],
  )
  assert.throws(() => report(T0_US, 'a', 1, 1), sondeError('SRC_CLOSED'))
  assert.throws(() => source.reporter(job, ['time', 'queue', 'n']), sondeError('SRC_CLOSED'))
})

test('a label that finds the symbol table full is counted, and its record left out', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 3, onLoss: () => undefined })
  // Whoever asks for the table keeps it: it is not replaced.
  assert.ok(source.symbols.count > 0)
  const report = source.reporter(job, ['time', 'queue', 'n'])
  for (const queue of ['a', 'b', 'a']) report(T0_US, queue, 1)
  source.flush()
  assert.deepEqual([emitted[0]?.count, source.stats.dropped.get('symbol_limit')], [2, 1])
})

test('names must be those of fields, once each, and all that a record must have', () => {
  const { source } = recordingSource()
  const wrongs: [unknown, RegExp][] = [
    [['time', 'queue', 'n', 'x'], /names "x", which is no field; it has: time, queue, n, note, left/],
    [['time', 'queue', 'n', 'toString'], /"toString", which is no field/],
    [['time', 'queue', 'n', 'n'], /names n twice/],
    [['time', 'note'], /does not name queue, n;/],
    [[], /does not name time, queue, n;/],
    ['time', /was given "time"/],
    [undefined, /was given undefined/],
  ]
  for (const [names, message] of wrongs) {
    assert.throws(() => source.reporter(job, names as ['n']), sondeError('SRC_REPORTER', message))
  }
})
