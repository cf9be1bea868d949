import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeriesQuery } from '@sonde/sdk'
import { compile, compileAll } from './compile.ts'

const query = (more: Partial<SeriesQuery>): SeriesQuery => {
  return { metric: 'pod_gpu_count', function: 'last', matchers: [], by: undefined, aggregate: 'sum', ...more }
}

test('each function has its expression', () => {
  const expressions = (['last', 'avg', 'min', 'max', 'rate', 'increase'] as const).map((asked) => {
    return compile(query({ function: asked }), 15_000)
  })
  assert.deepEqual(expressions, [
    '{__name__="pod_gpu_count"}',
    'avg_over_time({__name__="pod_gpu_count"}[15000ms])',
    'min_over_time({__name__="pod_gpu_count"}[15000ms])',
    'max_over_time({__name__="pod_gpu_count"}[15000ms])',
    'rate({__name__="pod_gpu_count"}[60000ms])',
    'rate({__name__="pod_gpu_count"}[60000ms]) * 15',
  ])
  assert.throws(() => compile(query({ function: 'quantile' }), 1000), { code: 'QRY_FORM' })
})

test('nothing that a question holds leaves its string', () => {
  const value = 'a"} or vector(1)\n#\\'
  const matchers = [{ label: 'app', op: '=', value }] as const
  assert.equal(compile(query({ metric: 'm"}', matchers }), 1000), '{__name__="m\\"}",app="a\\"} or vector(1)\\n#\\\\"}')
  const bad = [{ label: 'app="x"} or vector(1) #', op: '=', value: '' }] as const
  assert.throws(() => compile(query({ matchers: bad }), 1000), { code: 'QRY_FORM' })
  assert.throws(() => compile(query({ by: ['a) or (b'] }), 1000), { code: 'QRY_FORM' })
})

test('levels are nested', () => {
  const within = { by: ['namespace', 'pod'], aggregate: 'avg' } as const
  assert.equal(
    compile(query({ by: ['service'], aggregate: 'count', within }), 1000),
    'count by (service) (avg by (service,namespace,pod) ({__name__="pod_gpu_count"}))',
  )
})

test('all questions are one expression, each with its place', () => {
  assert.equal(
    compileAll([query({ by: [] }), query({ metric: 'up', by: ['service'], aggregate: 'max' })], 1000),
    'label_replace(sum by () ({__name__="pod_gpu_count"}),"sonde_question","0","","") or ' +
      'label_replace(max by (service) ({__name__="up"}),"sonde_question","1","","")',
  )
})
