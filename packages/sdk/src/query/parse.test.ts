import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SondeError } from '../errors.ts'
import { parseQueryRequest, stepOf } from './parse.ts'

const GOOD = { fromMs: 1000, toMs: 2000, stepMs: 100, queries: [{ metric: 'm' }] }

function codeOf(input: unknown): string {
  try {
    parseQueryRequest(input)
  } catch (error) {
    assert.ok(error instanceof SondeError, `threw ${String(error)}`)
    return error.code
  }
  return 'none'
}

test('fills in what a question leaves out', () => {
  const { queries } = parseQueryRequest(GOOD)
  assert.deepEqual(queries[0], { metric: 'm', function: 'last', matchers: [], by: undefined, aggregate: 'sum' })
})

test('takes the finest round step that gives at most 1 440 points', () => {
  assert.equal(stepOf(0, 300_000), 1000)
  assert.equal(stepOf(undefined, 3_600_000), 5000)
  assert.equal(stepOf(0, 86_400_000), 60_000)
  assert.ok(stepOf(0, 86_400_000 * 3650) >= 86_400_000)
})

function asking(more: object): object {
  return { ...GOOD, queries: [{ metric: 'm', ...more }] }
}

test('takes two levels, and sums in the first where it does not say how', () => {
  const { queries } = parseQueryRequest(asking({ by: ['service'], aggregate: 'count', within: { by: ['pod'] } }))
  assert.deepEqual(queries[0]?.within, { by: ['pod'], aggregate: 'sum' })
  assert.equal(queries[0]?.aggregate, 'count')
})

function matching(...matchers: object[]): object {
  return { ...GOOD, queries: [{ metric: 'm', matchers }] }
}

test('takes what backtracking would take for ever on, and what only looks like it', () => {
  for (const value of [`${'.*'.repeat(200)}X`, '((a+))+', 'eth(0|1)+']) {
    assert.equal(codeOf(matching({ label: 'device', op: '=~', value })), 'none')
  }
})

const WRONG: readonly [string, unknown, string][] = [
  ['no object', null, 'QRY_FORM'],
  ['a list', [], 'QRY_FORM'],
  ['no questions', { ...GOOD, queries: [] }, 'QRY_FORM'],
  ['too many questions', { ...GOOD, queries: Array.from({ length: 65 }, () => ({ metric: 'm' })) }, 'QRY_LIMIT'],
  ['a window that ends before it begins', { ...GOOD, toMs: 500 }, 'QRY_FORM'],
  ['a time that is no time', { ...GOOD, fromMs: Number.NaN }, 'QRY_FORM'],
  ['a step of a fraction', { ...GOOD, stepMs: 0.5 }, 'QRY_FORM'],
  ['too many points', { ...GOOD, toMs: 1_000_000, stepMs: 1 }, 'QRY_LIMIT'],
  ['no metric', { ...GOOD, queries: [{}] }, 'QRY_FORM'],
  ['an unknown function', { ...GOOD, queries: [{ metric: 'm', function: 'derivative' }] }, 'QRY_FORM'],
  [
    'an unknown operator',
    { ...GOOD, queries: [{ metric: 'm', matchers: [{ label: 'a', op: '~', value: 'b' }] }] },
    'QRY_FORM',
  ],
  [
    'a broken expression',
    { ...GOOD, queries: [{ metric: 'm', matchers: [{ label: 'a', op: '=~', value: '(' }] }] },
    'QRY_FORM',
  ],
  ['an expression with a back reference', matching({ label: 'a', op: '=~', value: '(a)\\1' }), 'QRY_FORM'],
  ['too many matchers', matching(...Array.from({ length: 17 }, () => ({ label: 'a', value: 'b' }))), 'QRY_LIMIT'],
  [
    'expressions that are too long together',
    matching(...Array.from({ length: 9 }, (_, n) => ({ label: 'a', op: '=~', value: `${n}`.repeat(500) }))),
    'QRY_LIMIT',
  ],
  ['an unknown key', { ...GOOD, step: 5 }, 'QRY_FORM'],
  ['an unknown key of a question', { ...GOOD, queries: [{ metric: 'm', functon: 'rate' }] }, 'QRY_FORM'],
  ['an unknown key of a matcher', matching({ label: 'a', value: 'b', operator: '!=' }), 'QRY_FORM'],
  ['a level within nothing', asking({ within: { by: ['pod'] } }), 'QRY_FORM'],
  ['a level without labels', asking({ by: [], within: { aggregate: 'avg' } }), 'QRY_FORM'],
  ['an unknown aggregate of a level', asking({ by: [], within: { by: [], aggregate: 'median' } }), 'QRY_FORM'],
  ['an unknown key of a level', asking({ by: [], within: { by: [], function: 'avg' } }), 'QRY_FORM'],
  [
    'a quantile of means',
    asking({ by: [], function: 'quantile', quantile: 0.5, within: { by: [], aggregate: 'avg' } }),
    'QRY_FORM',
  ],
  ['by that is no list', { ...GOOD, queries: [{ metric: 'm', by: 'device' }] }, 'QRY_FORM'],
]
for (const [what, input, code] of WRONG) {
  test(`refuses ${what} with ${code}`, () => assert.equal(codeOf(input), code))
}

test('names the key that it does not know, and those that it knows', () => {
  assert.throws(
    () => parseQueryRequest({ ...GOOD, queries: [{ metric: 'm', functon: 'rate' }] }),
    /queries\[0\] has the key "functon"; allowed: metric, function, matchers, by, aggregate/,
  )
})

test('random input never throws anything but a typed error', () => {
  const parts = [null, 1, -1, '', 'x', true, [], {}, { metric: 'm' }, [{ metric: 'm' }], Number.POSITIVE_INFINITY]
  const keys = ['fromMs', 'toMs', 'stepMs', 'queries']
  for (let i = 0; i < 5000; i++) {
    const input = Object.fromEntries(keys.map((key, k) => [key, parts[(i * 7 + k * (1 + (i >> 3))) % parts.length]]))
    codeOf(input)
  }
})
