import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricQuery } from '../api/types.ts'
import { formatSignal, parseSignal } from './signal.ts'

test('a signal that was written reads back as the same question', () => {
  const queries: readonly MetricQuery[] = [
    { metric: 'netdev_up', function: 'last' },
    { metric: 'a_total', function: 'rate', matchers: [{ label: 'device', op: '=~', value: 'eth.*|ib:0;50%' }] },
    { metric: 'a_total', function: 'increase', aggregate: 'sum', by: [] },
    {
      metric: 'a_total',
      function: 'rate',
      matchers: [
        { label: 'device', op: '!=', value: 'lo' },
        { label: 'cpu', op: '=', value: '' },
      ],
      aggregate: 'max',
      by: ['device', 'cpu'],
    },
  ]
  for (const query of queries) assert.deepEqual(parseSignal(formatSignal(query)), query)
})

test('a signal is readable', () => {
  const query = parseSignal('rate:netdev_rx_bytes_total:device=~eth.*;device!=eth9:sum(device)')
  assert.ok(query)
  assert.equal(formatSignal(query), 'rate:netdev_rx_bytes_total:device=~eth.*;device!=eth9:sum(device)')
})

test('what is no signal is not guessed at', () => {
  const wrong = [
    '',
    'rate',
    'rate:',
    'median:a',
    'rate:a b',
    'rate:a:device',
    'rate:a:device=%zz',
    'rate:a:x=1:y=2',
    'a:b:c:d:e',
  ]
  for (const text of wrong) assert.equal(parseSignal(text), undefined, text)
})
