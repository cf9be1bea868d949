import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, sondeError } from '../../test/helper.ts'
import { expressionOf } from './expression.ts'

const matches = (source: string, text: string) => expressionOf(source, 'value')(text)

const CASES: readonly [string, string, boolean][] = [
  ['eth(0|1)+', 'eth0110', true],
  ['eth(0|1)+', 'eth2', false],
  ['a|ab', 'ab', true],
  ['b', 'abc', false],
  ['', '', true],
  ['.*', 'two\nlines', true],
  ['(?i)MLX5_[0-9]+', 'mlx5_12', true],
  ['\\p{Greek}+', 'αβ', true],
  ['[^:]+:\\d{1,3}', 'eth0:17', true],
  ['.', '😀', true],
]
for (const [source, text, expected] of CASES) {
  test(`${JSON.stringify(source)} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    assert.equal(matches(source, text), expected)
  })
}

test('expressions that backtracking would take for ever on are answered', (t) => {
  // How long they take is not what is tested.
  const nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  for (const source of [`${'.*'.repeat(200)}X`, '((a+))+', '(a*)*b', '(a|aa)+b', '(x+x+)+y', '(a?){150}a{150}']) {
    assert.equal(matches(source, `${'a'.repeat(1000)}!`), false, source)
  }
})

test('a large expression is not tried on a long text', () => {
  const message = /^a matcher is "\(a\?\)\{150\}a\{150\}"; .* instructions, too many for a label of 4096 characters$/
  assert.throws(() => matches('(a?){150}a{150}', 'a'.repeat(4096)), { code: 'QRY_FORM', message })
})

test('expressions that take more than their share of the time are refused until it is over', (t) => {
  let nowMs = performance.now() + 60_000
  let isBefore = true
  // A test looks at the clock before it, and 30 ms later after it.
  t.mock.method(performance, 'now', () => {
    if (!isBefore) nowMs += 30
    isBefore = !isBefore
    return nowMs
  })
  const test = () => matches('(a?){150}a{150}', 'a'.repeat(1000))
  for (let count = 0; count < 5; count++) assert.equal(test(), false)
  assert.throws(test, { code: 'QRY_BUSY' })
  isBefore = true
  nowMs += 1000
  assert.equal(test(), false)
})

const REFUSED: readonly [string, string, RegExp][] = [
  ['what is no expression', '(', /value is "\("; .*missing closing/],
  ['what cannot be had in linear time', '(a)\\1', /invalid escape sequence/],
  ['looking ahead', '(?=a)b', /\(\?=/],
  ['more than 512 characters', 'a'.repeat(513), /513 characters; at most 512/],
  ['a large program', '((a?){30}){30}', /over 1000 instructions/],
  ['a huge program', 'a{1000}'.repeat(73), /over 1000 instructions/],
]
for (const [what, source, message] of REFUSED) {
  test(`refuses ${what}, and says so`, () => {
    assert.throws(() => expressionOf(source, 'value'), sondeError('QRY_FORM', message))
  })
}

test('an expression that is asked for again is not compiled again, and those of long ago are forgotten', () => {
  const first = expressionOf('first', 'value')
  assert.equal(expressionOf('first', 'value'), first)
  for (let n = 0; n < 16; n++) expressionOf(`other${n}`, 'value')
  assert.notEqual(expressionOf('first', 'value'), first)
})

property('simple expressions mean what they mean elsewhere', 200, (random) => {
  const parts = ['a', 'b', '.', '[ab]', '[^a]', '(a|b)', 'a?', 'b*', '(ab)+', 'c']
  const pick = (from: readonly string[]) => from[random.integer(0, from.length - 1)] ?? ''
  const source = Array.from({ length: random.integer(0, 6) }, () => pick(parts)).join('')
  const text = Array.from({ length: random.integer(0, 8) }, () => pick(['a', 'b', 'c', '\n'])).join('')
  assert.equal(matches(source, text), new RegExp(`^(?:${source})$`, 'us').test(text), `${source} on ${text}`)
})
