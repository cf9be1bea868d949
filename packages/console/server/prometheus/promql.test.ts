import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileQueries } from './compile.ts'
import { labelName, selectorOf } from './promql.ts'

test('nothing that a question holds leaves its string', () => {
  const value = 'a"} or vector(1)\n#\\'
  assert.equal(
    selectorOf(['m"}'], [{ label: 'app', op: '=', value }]),
    '{__name__="m\\"}",app="a\\"} or vector(1)\\n#\\\\"}',
  )
  for (const name of ['app="x"} or vector(1) #', 'a) or (b', '', '__name__', 'a-b'])
    assert.throws(() => labelName(name), { code: 'QRY_FORM' }, name)
})

test('a question whose labels are none is refused, wherever they stand', () => {
  const grain = { stepMs: 15_000, intervalMs: 15_000, holdMs: 37_500, looksBack: false }
  const query = { metric: 'up', function: 'last', matchers: [], by: ['a) or (b'], aggregate: 'sum' } as const
  const within = { by: ['c) or (d'], aggregate: 'avg' } as const
  const none = () => false
  assert.throws(() => compileQueries([query], grain, none), { code: 'QRY_FORM' })
  assert.throws(() => compileQueries([{ ...query, by: ['a'], within }], grain, none), { code: 'QRY_FORM' })
})
