import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryAnswer, QueryResult, SeriesAnswer } from '@sonde/sdk/internal'
import { joinedAnswer, parcelled } from './answer-parts.ts'

/** An answer whose results have a given number of series and values. */
function answerOf(sizes: readonly (readonly [series: number, values: number])[]): QueryAnswer {
  const results = sizes.map(([count, length], at): QueryResult => {
    const facts = { metric: `m${at}`, unit: '', role: 'gauge', help: '', function: 'last' as const, clock: 'wall' }
    const series = Array.from({ length: count }, (_, index): SeriesAnswer => {
      return { labels: { index: String(index) }, values: new Float64Array(length).fill(index), resetsMs: [] }
    })
    return { ...facts, resolutionMs: 1000, series, notes: [] }
  })
  return { fromMs: 0, toMs: 1, stepMs: 1, times: new Float64Array([0, 1]), results }
}

test('a small answer goes as it is', () => {
  assert.equal(parcelled(answerOf([[100, 300]])), undefined)
  assert.equal(parcelled(answerOf([])), undefined)
})

for (const [words, sizes] of [
  [
    'many series',
    [
      [0, 2],
      [1000, 2],
      [1, 2],
      [399, 2],
    ],
  ],
  [
    'many values',
    [
      [90, 5760],
      [2, 400_000],
    ],
  ],
] as const)
  test(`an answer of ${words} is the same again when its parts are joined, and no part is large`, () => {
    const answer = answerOf(sizes)
    const { parts, rest } = parcelled(answer) ?? assert.fail('it is large')
    const taken = [...parts]
    assert.ok(taken.length > 1)
    for (const { series } of taken) {
      const values = series.reduce((sum, one) => sum + one.values.length, 0)
      assert.ok(series.length <= 400 && (values <= 250_000 || series.length === 1), `${series.length}, ${values}`)
    }
    assert.deepEqual(
      rest.results.map(({ series }) => series.length),
      sizes.map(() => 0),
    )
    assert.deepEqual(joinedAnswer(rest, taken), answer)
  })
