import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregateSeries } from './aggregate.ts'

const one = (device: string, value: number) => ({
  labels: { device },
  values: Float64Array.of(value),
  resetsMs: [],
})

test('series that agree in the labels asked for become one', () => {
  const joined = aggregateSeries([one('a', 1), one('b', 2), one('a', 4)], ['device'], 'sum')
  assert.deepEqual(
    joined.map(({ labels, values }) => [labels, [...values]]),
    [
      [{ device: 'a' }, [5]],
      [{ device: 'b' }, [2]],
    ],
  )
})

test('a label that no series has joins all of them, whatever every object has', () => {
  for (const name of ['toString', 'constructor', '__proto__', 'rack']) {
    const joined = aggregateSeries([one('a', 1), one('b', 2)], [name], 'sum')
    assert.deepEqual(
      joined.map(({ labels, values }) => [Object.entries(labels), [...values]]),
      [[[], [3]]],
      name,
    )
  }
})
