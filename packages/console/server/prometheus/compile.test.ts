import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Matcher, SeriesQuery } from '@sonde/sdk/internal'
import { compileQueries } from './compile.ts'

const GRAIN = { stepMs: 60_000, intervalMs: 15_000, holdMs: 37_500, looksBack: false }

function query(more: Partial<SeriesQuery> = {}): SeriesQuery {
  return { metric: 'm', function: 'last', matchers: [], by: undefined, aggregate: 'sum', ...more }
}

const compiled = (queries: readonly SeriesQuery[], grain = GRAIN) => compileQueries(queries, grain, (m) => m === 'h')
const where = (...matchers: Matcher[]) => compiled([query({ matchers })]).expression

test('last values of several metrics are one selector, which keeps their names', () => {
  const queries = ['a_b', 'c.d', 'a_b'].map((metric) => query({ metric, by: ['pod'], aggregate: 'avg' }))
  const { expression, parts } = compiled(queries)
  assert.equal(
    expression,
    'label_replace(avg by (__name__, pod) (last_over_time({__name__=~"a_b|c\\\\.d"}[59999ms])), "__part", "0", "", "")',
  )
  assert.deepEqual(
    [...(parts[0]?.questions ?? [])],
    [
      ['a_b', [0, 2]],
      ['c.d', [1]],
    ],
  )
})

test('a value is held until a scrape marks its series as stale, as long as a selector looks back so far', () => {
  const last = (stepMs: number, intervalMs: number, looksBack = false) => {
    const { expression } = compiled([query()], { stepMs, intervalMs, holdMs: 2.5 * intervalMs, looksBack })
    return expression.replace(/^label_replace\((.*), "__part", "0", "", ""\)$/, '$1').replaceAll('{__name__="m"}', 'm')
  }
  assert.equal(last(1000, 15_000), '(last_over_time(m[37499ms]) and m)')
  assert.equal(last(15_000, 15_000), 'last_over_time(m[37499ms])', 'samples of a step are its samples')
  assert.equal(last(1000, 150_000), 'last_over_time(m[374999ms])')
  assert.equal(last(1000, 15_000, true), 'last_over_time(m[37499ms])')
})

test('questions of different functions are parts of one union', () => {
  const { expression, parts } = compiled([query(), query({ function: 'avg' }), query({ function: 'rate', by: [] })])
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['values', 'values', 'values', 'restarts'],
  )
  for (const part of parts.keys()) assert.ok(expression.includes(`"__part", "${part}"`))
})

test('two levels are two aggregations, the inner one with the labels of both', () => {
  const { expression } = compiled([
    query({ by: ['service'], aggregate: 'count', within: { by: ['pod'], aggregate: 'avg' } }),
  ])
  assert.match(expression, /count by \(__name__, service\) \(avg by \(__name__, service, pod\) \(last_over_time/)
})

test('whatever a matcher says stays inside its quotes', () => {
  const value = '"} or vector(1) #\\\n\u0007\ud800'
  assert.match(where({ label: 'a', op: '=', value }), /a="\\"} or vector\(1\) #\\\\\\n\\u0007\ufffd"}\[59999ms\]/)
  assert.match(where({ label: 'a', op: '=~', value: 'x.*' }), /a=~"\(\?s:x\.\*\)"/)
  assert.match(where({ label: 'a', op: '!~', value: 'x\\.y|z' }), /a!~"x\\\\\.y\|z"/)
})

test('labels that no such server has are refused', () => {
  for (const label of ['', 'a-b', '__name__', '__part', 'a"}', 'ä']) {
    assert.throws(() => where({ label, op: '=', value: 'x' }), { code: 'QRY_FORM' }, label)
    assert.throws(() => compiled([query({ by: [label] })]), { code: 'QRY_FORM' }, label)
  }
})

test('what cannot be taken apart of a histogram is refused, and its quantile is joined first', () => {
  assert.throws(() => compiled([query({ metric: 'h', function: 'max' })]), { code: 'QRY_FORM' })
  assert.throws(() => compiled([query({ metric: 'h', by: [], aggregate: 'min' })]), { code: 'QRY_FORM' })
  const { expression } = compiled([query({ metric: 'h', function: 'quantile', quantile: 0.9, by: ['pod'] })])
  assert.match(
    expression,
    /histogram_quantile\(0\.9, sum by \(le, pod\) \(rate\({__name__="h_bucket"}\[74999ms\]\)\)\)/,
  )
})

test('64 questions that share nothing nest no deeper than seven unions', () => {
  const queries = Array.from({ length: 64 }, (_, i) => query({ metric: `m${i}`, function: 'avg' }))
  const { expression } = compiled(queries)
  const depth = /^\(*/.exec(expression)?.[0].length ?? 0
  assert.equal(depth, 6)
})
