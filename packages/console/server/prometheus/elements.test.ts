import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { ElementReader } from './elements.ts'

function read(text: string, cuts: readonly number[], depth = 3, limit = 10_000) {
  const reader = new ElementReader(depth, limit)
  const bytes = Buffer.from(text)
  const places = [0, ...cuts, bytes.length]
  const elements = places.slice(1).flatMap((end, i) => [...reader.push(bytes.subarray(places[i], end))])
  return { elements, envelope: reader.envelope() }
}

const ELEMENTS = [
  { metric: { a: 'x,]}"\\', b: '{"[' }, values: [[1, '2']] },
  { metric: { gerät: '\u{1F6A8}' }, values: [] },
  {
    metric: {},
    values: [
      [1, 'NaN'],
      [2, '+Inf'],
    ],
  },
]

test('elements are the same wherever the text is cut', () => {
  const random = new Random(SEED)
  const whole = { status: 'success', data: { resultType: 'matrix', result: ELEMENTS }, warnings: ['a [b]'] }
  for (const spaces of [0, 2]) {
    const text = JSON.stringify(whole, null, spaces)
    for (let round = 0; round < 200; round++) {
      const length = Buffer.byteLength(text)
      const cuts = Array.from({ length: random.integer(0, 8) }, () => random.integer(0, length)).sort((a, b) => a - b)
      const { elements, envelope } = read(text, cuts)
      assert.deepEqual(
        elements.map((element) => JSON.parse(element)),
        ELEMENTS,
        `seed ${random.seed}`,
      )
      assert.deepEqual(envelope, { ...whole, data: { resultType: 'matrix', result: [] } })
    }
  }
})

test('a list without elements has none, and an object has its pairs', () => {
  assert.deepEqual(read('{"data":{"result":[ ]}}', []).elements, [])
  assert.deepEqual(read('{"data":{"a":[1,2],"b":{}}}', [], 2).elements, ['"a":[1,2]', '"b":{}'])
  assert.deepEqual(read('{"data":["a","b,c"]}', [9], 2).elements, ['"a"', '"b,c"'])
})

test('an element without an end, and an envelope without one, are given up', () => {
  assert.throws(() => read(`{"data":{"result":["${'x'.repeat(20_000)}`, [5000]), RangeError)
  assert.throws(() => read(`{"data":"${'x'.repeat(2 << 20)}"}`, []), RangeError)
  assert.throws(() => read('{"data":{"result":[{"a":1', []), SyntaxError)
})
