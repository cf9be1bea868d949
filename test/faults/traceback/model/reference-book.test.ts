import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Node, readReferenceBook, toUnsigned } from './reference-book.ts'

/** A file as JSON has it. */
function nodeOf(value: unknown): Node {
  if (value === null) return { kind: 'null' }
  if (typeof value === 'bigint') return { kind: 'whole', text: String(value) }
  if (typeof value === 'number') return { kind: Number.isInteger(value) ? 'whole' : 'literal', text: String(value) }
  if (typeof value === 'boolean') return { kind: 'literal', text: String(value) }
  if (typeof value === 'string') return { kind: 'string', text: value }
  if (Array.isArray(value)) return { kind: 'array', items: value.map(nodeOf) }
  return { kind: 'object', members: Object.entries(value as object).map(([key, member]) => [key, nodeOf(member)]) }
}

const GUIDE = {
  diag_sample_period_ns: 100000,
  sample_history_depth: 1024,
  'data-ids': [{ name: 'port_0_rx_bytes', data_id: '0x1020000100000000' }],
  rules: [
    {
      name: 'Rx Bytes/s > 1MeBs',
      data_id: '0x1020000100000000',
      comparison_type: 'differential_greater_than',
      comparison_value: 1048576,
    },
  ],
}
const [RULE] = GUIDE.rules

const read = (change: object) => readReferenceBook(nodeOf({ ...GUIDE, ...change }))
const ruleWith = (change: object) => read({ rules: [{ ...RULE, ...change }] })

test("reads the guide's example, but for its depth", () => {
  assert.deepEqual(read({}), {
    book: {
      samplePeriodNs: 100_000,
      depth: 1024,
      dataIds: [{ name: 'port_0_rx_bytes', dataId: 0x1020000100000000n }],
      rules: [{ name: 'Rx Bytes/s > 1MeBs', dataId: 0x1020000100000000n, kind: 'dt_gt', value: 1_048_576n }],
    },
  })
  assert.deepEqual(read({ sample_history_depth: 10_000 }), { refusedAt: 'sample_history_depth' })
})

test('reads numbers as strtoul does', () => {
  const texts = ['12', ' \t+12x', '-5', '1.5', '1e6', 'text', '', '-', '99999999999999999999', '0x10']
  const wanted = [12n, 12n, 2n ** 64n - 5n, 1n, 1n, 0n, 0n, 0n, 2n ** 64n - 1n, 0n]
  assert.deepEqual(
    texts.map((text) => toUnsigned(text, 10)),
    wanted,
  )
  const hex = ['0xAb', 'ab', '0xg', '10z', '-1', '0x', 'fffffffffffffffff']
  assert.deepEqual(
    hex.map((text) => toUnsigned(text, 16)),
    [0xabn, 0xabn, 0n, 16n, 2n ** 64n - 1n, 0n, 2n ** 64n - 1n],
  )
})

test('clamps a bare whole number before it is read, and not one in quotes', () => {
  const valueOf64 = (comparison_value: unknown) => {
    const reading = ruleWith({ comparison_value })
    return 'book' in reading ? reading.book.rules[0]?.value : undefined
  }
  assert.equal(valueOf64(-99999999999999999999n), 2n ** 63n)
  assert.equal(valueOf64('-99999999999999999999'), 2n ** 64n - 1n)
  assert.equal(valueOf64(99999999999999999999n), 2n ** 64n - 1n)
  assert.equal(valueOf64(-5), 2n ** 64n - 5n)
  assert.equal(valueOf64(true), 0n)
})

test('cuts period and depth to 32 bits', () => {
  const reading = read({ diag_sample_period_ns: 2 ** 32 + 7, sample_history_depth: 2 ** 32 + 8 })
  assert.ok('book' in reading)
  assert.deepEqual([reading.book.samplePeriodNs, reading.book.depth], [7, 8])
  assert.ok('book' in read({ sample_history_depth: 2 ** 30 }))
  for (const depth of [0, 3, 2 ** 31, 2 ** 32, 'text'])
    assert.deepEqual(read({ sample_history_depth: depth }), { refusedAt: 'sample_history_depth' })
})

test('reads a data ID that is a number in decimal as hexadecimal digits, and cuts names at NUL', () => {
  const reading = read({ 'data-ids': [{ name: 'a\0b', data_id: 10 }], rules: [{ ...RULE, name: 7, data_id: '10' }] })
  assert.ok('book' in reading)
  assert.deepEqual(reading.book.dataIds, [{ name: 'a', dataId: 16n }])
  assert.equal(reading.book.rules[0]?.name, '7')
})

test('complains of the first fault in the order of the table, then of the depth, then of IDs', () => {
  const cases: readonly (readonly [change: object, refusedAt: string])[] = [
    [{ diag_sample_period_ns: null, sample_history_depth: 3 }, 'diag_sample_period_ns'],
    [{ 'data-ids': [], rules: [] }, 'data-ids'],
    [{ 'data-ids': {}, data_ids: GUIDE['data-ids'] }, 'data-ids'],
    [{ rules: 'none', sample_history_depth: 3 }, 'rules'],
    [{ 'data-ids': [...GUIDE['data-ids'], { name: 'b' }] }, 'data-ids[1].data_id'],
    [{ rules: [{ ...RULE, comparison_type: 'GT', comparison_value: null }] }, 'rules[0].comparison_type'],
    [{ rules: [{ ...RULE, comparison_value: null }], sample_history_depth: 3 }, 'rules[0].comparison_value'],
    [{ rules: [{ ...RULE, data_id: '1' }], sample_history_depth: 3 }, 'sample_history_depth'],
    [{ rules: [RULE, { ...RULE, data_id: '1' }] }, 'rules[1].data_id'],
  ]
  for (const [change, refusedAt] of cases) assert.deepEqual(read(change), { refusedAt })
})
