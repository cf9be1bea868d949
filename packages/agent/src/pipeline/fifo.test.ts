import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../sdk/test/random.ts'
import { Fifo } from './fifo.ts'

test('gives items back in the order in which they came, as an array does', () => {
  const random = new Random(3)
  const fifo = new Fifo<number>()
  let expected: number[] = []
  for (let round = 0; round < 200; round++) {
    for (let pushes = random.integer(0, 60); pushes > 0; pushes--) {
      fifo.push(round)
      expected.push(round)
    }
    const count = random.integer(0, 70)
    const taken = Array.from({ length: count }, () => fifo.shift()).filter((item) => item !== undefined)
    assert.deepEqual(taken, expected.slice(0, count))
    expected = expected.slice(count)
    assert.deepEqual([fifo.list(), fifo.length, fifo.first], [expected, expected.length, expected[0]])
  }
})
