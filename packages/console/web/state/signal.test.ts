import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricQuery } from '@sonde/sdk/api'
import { formatSignal, parseSignal, signalFault } from './signal.ts'
import { formatUrl, parseUrl } from './url-state.ts'

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

/** Texts that must be escaped. */
const PIECES = [
  ':',
  ';',
  '%',
  '%25',
  '%3A',
  '%3B',
  '=',
  '=~',
  '!',
  ':sum()',
  ':max(a,b)',
  'sum(',
  ')',
  '(',
  ',',
  '.',
  '*',
]
const MORE_PIECES = [
  '&',
  '#',
  '?',
  '+',
  ' ',
  '/',
  '\\',
  '"',
  '|',
  '^',
  '$',
  '\n',
  'é',
  '😀',
  'a',
  '0',
  '0000:ca:00.0',
  '%zz',
]

test('any value of any label reads back from the address it is written in', () => {
  const pieces = [...PIECES, ...MORE_PIECES]
  let state = 20_260_921
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const anyValue = (): string => Array.from({ length: next(6) }, () => pieces[next(pieces.length)]!).join('')
  const ops = ['=', '!=', '=~', '!~'] as const
  for (let round = 0; round < 5_000; round++) {
    const matchers = Array.from({ length: 1 + next(3) }, () => ({
      label: 'device',
      op: ops[next(4)]!,
      value: anyValue(),
    }))
    const grouping = next(2) === 0 ? {} : { aggregate: 'max' as const, by: ['device'] }
    const query: MetricQuery = { metric: 'a_total', function: 'rate', matchers, ...grouping }
    const { search } = new URL(`/explore${formatUrl({ sig: [formatSignal(query)] })}`, 'http://localhost')
    const { state: read, ignored } = parseUrl(search)
    assert.deepEqual(ignored, [])
    assert.deepEqual(parseSignal(read.sig?.[0] ?? ''), query)
  }
})

test('a signal is readable, also where it names a PCI address', () => {
  const texts = [
    'rate:netdev_rx_bytes_total:device=~eth.*;device!=eth9:sum(device)',
    'last:pci_device_current_link_bandwidth_bytes_per_second:pci_address=0000:ca:00.0;simulated=true',
  ]
  for (const text of texts) {
    const query = parseSignal(text)
    assert.ok(query)
    assert.equal(formatSignal(query), text)
    assert.equal(formatUrl({ sig: [text] }), `?sig=${text}`)
  }
})

test('a colon may be escaped where it need not be', () => {
  const query = parseSignal('last:a:device=0000:ca:00.0')
  assert.deepEqual(query?.matchers, [{ label: 'device', op: '=', value: '0000:ca:00.0' }])
  assert.deepEqual(parseSignal('last:a:device=0000%3Aca%3a00.0'), query)
})

test('what is no signal is not guessed at, and says why', () => {
  const wrong: readonly (readonly [text: string, fault: RegExp])[] = [
    ['', /^A signal is written as/],
    ['rate', /^A signal is written as/],
    ['rate:', /^A signal is written as/],
    ['rate:a b', /^A signal is written as/],
    ['median:a', /^The function of a signal is one of rate/],
    ['a:b:c:d:e', /^The function of a signal is one of rate/],
    ['rate:a:device', /^A condition of a signal is written as/],
    ['rate:a:x=1;;y=2', /^A condition of a signal is written as/],
  ]
  for (const [text, fault] of wrong) {
    assert.equal(parseSignal(text), undefined, text)
    assert.match(signalFault(text), fault)
  }
  assert.equal(signalFault('rate:a'), '')
})
