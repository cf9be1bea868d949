import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregateSeries, joinColumns, levelsOf } from './aggregate.ts'
import type { SeriesAnswer } from './form.ts'

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

test('counts the series that have a value, and has none where no series has', () => {
  const column = (...values: number[]) => Float64Array.from(values)
  const joined = joinColumns([column(1, Number.NaN, Number.NaN), column(7, 0, Number.NaN)], 'count')
  assert.deepEqual([...joined], [2, 1, Number.NaN])
})

test('a mean over pods within which GPUs are averaged gives each pod the same weight', () => {
  const gpu = (pod: string, index: string, value: number) => ({
    labels: { service: 'api', pod, gpu: index },
    values: Float64Array.of(value),
    resetsMs: [],
  })
  const series = [gpu('a', '0', 10), gpu('a', '1', 20), gpu('a', '2', 30), gpu('b', '0', 80)]
  const joinOf = (within?: 'avg' | 'sum') => {
    const levels = levelsOf({
      by: ['service'],
      aggregate: 'avg',
      ...(within && { within: { by: ['pod'], aggregate: within } }),
    })
    const joined = levels.reduce<readonly SeriesAnswer[]>(
      (rest, { by, aggregate }) => aggregateSeries(rest, by, aggregate),
      series,
    )
    return joined.map(({ labels, values }) => [labels, [...values]])
  }
  assert.deepEqual(joinOf(), [[{ service: 'api' }, [35]]])
  assert.deepEqual(joinOf('avg'), [[{ service: 'api' }, [50]]])
  assert.deepEqual(joinOf('sum'), [[{ service: 'api' }, [70]]])
})
