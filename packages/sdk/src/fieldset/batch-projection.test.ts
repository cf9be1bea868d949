import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyRecord, anyType } from '../../test/any-type.ts'
import { property, recordingSource } from '../../test/helper.ts'
import type { Batch } from '../schema/batch.ts'
import { buckets, counter, gauge, label, nested, optional, text, timestamp } from '../schema/field.ts'
import type { Slot } from '../schema/layout.ts'
import { readRecord } from '../schema/reader.ts'
import { defineType, type RecordType } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { batchProjection } from './batch-projection.ts'
import { createFieldSet, type FieldSet } from './fieldset.ts'

/** Lets some slots pass, and with them time and labels. */
function setOf(passes: (slot: Slot) => boolean): FieldSet {
  return {
    covers: () => true,
    of(type) {
      const has = (slot: Slot) => slot === type.time || type.labels.includes(slot) || passes(slot)
      return { slots: type.layout.slots.filter(has), isWhole: type.layout.slots.every(has), has }
    },
  }
}

/** Values by the names of slots; absent ones are not in it. */
function flat(value: unknown, names: ReadonlySet<string>, path = ''): Map<string, unknown> {
  if (names.has(path)) return new Map([[path, value]])
  const entries = value !== null && typeof value === 'object' ? Object.entries(value) : []
  return new Map(entries.flatMap(([key, inner]) => [...flat(inner, names, path === '' ? key : `${path}.${key}`)]))
}

function recordsOf({ type, bytes, count, symbols }: Batch): Map<string, unknown>[] {
  const names = new Set(type.layout.slots.map(({ name }) => name))
  const views = viewsOf(bytes)
  return Array.from({ length: count }, (_, i) =>
    flat(readRecord(type, views, i * type.layout.recordBytes, symbols), names),
  )
}

function batchOf(type: RecordType, records: readonly object[]): Batch {
  const { source, emitted } = recordingSource({ bufferBytes: 1 << 20 })
  source.report(type, records as never)
  source.flush()
  const [batch] = emitted
  assert.ok(batch)
  return batch
}

property(
  'a record that passes in part has the same values in the fields that pass, wherever its bytes lie',
  200,
  (random) => {
    const type = anyType(random)
    const records = Array.from({ length: random.integer(1, 5) }, () => anyRecord(random, type, 1_800_000_000_000))
    const batch = batchOf(type, records)
    const kept = new Set(type.layout.slots.filter(() => random.chance(0.5)))
    const project = batchProjection(type, { set: setOf((slot) => kept.has(slot)) })
    const shift = random.integer(0, 8)
    const moved = new Uint8Array(batch.bytes.byteLength + shift)
    moved.set(batch.bytes, shift)
    const passed = project({ ...batch, bytes: moved.subarray(shift) })
    if (passed === undefined) return assert.equal([...kept].length, 0)
    const names = new Set(passed.type.layout.slots.map(({ name }) => name))
    const expected = recordsOf(batch).map((record) => new Map([...record].filter(([name]) => names.has(name))))
    assert.deepEqual(recordsOf(passed), expected)
    for (const { name } of kept) assert.ok(names.has(name), name)
    assert.equal(passed.type.name, type.name)
    for (const [name, metric] of passed.type.metrics) assert.equal(type.metrics.get(name), metric)
  },
)

const port = defineType(
  'port',
  'A port',
  {
    time: timestamp(),
    device: label(),
    rx_bytes_total: optional(counter('u64')),
    heat: optional(gauge('f32')),
    part: text(),
    wait: buckets('u32', [1, 2]),
    wait_sum: gauge('f64'),
    lane: nested(defineType('lane', 'A lane', { up: gauge('u8'), errors_total: counter('u32') })),
  },
  { entity: { kind: 'port', key: ['device'], facts: ['heat', 'rx_bytes_total'] } },
)

function passedOf(lines: string): Batch {
  const record = {
    time: 1_800_000_000_000_000_000n,
    device: 'a',
    part: 'x',
    wait: [1, 2, 3],
    wait_sum: 9,
    lane: { up: 1, errors_total: 7 },
  }
  const batch = batchOf(port, [
    { ...record, rx_bytes_total: 5n },
    { ...record, heat: 1.5 },
  ])
  const passed = batchProjection(port, { set: createFieldSet('fset', lines, 'a.fset') })(batch)
  assert.ok(passed)
  return passed
}

test('absent stays absent, a histogram keeps its sum, and a nested record what of it passes', () => {
  const narrow = passedOf('[port]\nheat\n^wait$\nlane+errors')
  assert.deepEqual(Object.keys(narrow.type.fields), ['time', 'device', 'heat', 'wait', 'wait_sum', 'lane'])
  assert.deepEqual(
    recordsOf(narrow).map((record) => Object.fromEntries(record)),
    [
      { time: 1_800_000_000_000_000_000n, device: 'a', wait: [1, 2, 3], wait_sum: 9, 'lane.errors_total': 7 },
      {
        time: 1_800_000_000_000_000_000n,
        device: 'a',
        heat: 1.5,
        wait: [1, 2, 3],
        wait_sum: 9,
        'lane.errors_total': 7,
      },
    ],
  )
  assert.deepEqual(narrow.type.entity, { kind: 'port', key: ['device'], facts: ['heat'] })
})

test('golden bytes: presence, padding and order of a narrow record', () => {
  const narrow = passedOf('[port]\nheat\nup')
  assert.equal(narrow.type.layout.recordBytes, 32)
  assert.equal(
    Buffer.from(narrow.bytes).toString('hex'),
    [
      '0b000000000000000000b49376e2fa180800000000000000',
      '0100000000000000',
      '0f000000000000000000b49376e2fa18080000000000c03f',
      '0100000000000000',
    ].join(''),
  )
})

test('everything passes as it is, nothing not at all, and bytes that are not its records as none', () => {
  const batch = batchOf(port, [
    {
      time: 1_800_000_000_000_000_000n,
      device: 'a',
      part: '',
      wait: [0, 0, 0],
      wait_sum: 0,
      lane: { up: 0, errors_total: 0 },
    },
  ])
  const by = (lines: string) => batchProjection(port, { set: createFieldSet('fset', lines, 'a.fset') })
  assert.equal(by('[port]\n')(batch), batch)
  assert.equal(by('[other]\n')(batch), undefined)
  const torn = by('[port]\nheat')({ ...batch, bytes: batch.bytes.subarray(1) })
  assert.deepEqual([torn?.count, torn?.bytes.byteLength], [1, 0])
})
