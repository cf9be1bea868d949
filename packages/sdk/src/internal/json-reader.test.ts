import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonReader } from './json-reader.ts'

const read = new JsonReader((message) => new RangeError(message))
const faultOf = (look: () => unknown): string => {
  try {
    look()
  } catch (error) {
    assert.ok(error instanceof RangeError)
    return error.message
  }
  return ''
}

test('values of the wanted form come back as they are', () => {
  assert.deepEqual(read.object('o', { a: 1 }, ['a']), { a: 1 })
  assert.deepEqual(read.list('l', [1, 2], 2), [1, 2])
  assert.equal(read.text('t', 'abc', 3), 'abc')
  assert.equal(read.integer('i', 5, 0, 5), 5)
  assert.equal(read.oneOf('x', undefined, [undefined, true]), undefined)
})

test('a fault names the place, the value and what is allowed', () => {
  assert.equal(
    faultOf(() => read.object('o', [])),
    'o is an array of 0 elements; allowed: an object',
  )
  assert.equal(
    faultOf(() => read.object('o', null, ['a', 'b'])),
    'o is null; allowed: an object with a, b',
  )
  assert.equal(
    faultOf(() => read.object('o', { c: 1 }, ['a', 'b'])),
    'o has the key "c"; allowed: a, b',
  )
  assert.equal(
    faultOf(() => read.list('l', [1, 2], 1)),
    'l is an array of 2 elements; allowed: a list of at most 1',
  )
  assert.equal(
    faultOf(() => read.text('t', 'abcd', 3)),
    't is "abcd"; allowed: text of at most 3 characters',
  )
  assert.equal(
    faultOf(() => read.integer('i', 1.5, 0, 9)),
    'i is 1.5; allowed: a whole number from 0 to 9',
  )
  assert.equal(
    faultOf(() => read.oneOf('x', 'c', ['a', 'b'])),
    'x is "c"; allowed: a, b',
  )
})
