import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Test } from '../../../../packages/agent/src/rules/rule.ts'
import type { Value } from './exact.ts'
import { fixedEdges } from './fixed-edges.ts'
import type { ModelSample } from './points.ts'

const PERIOD_NS = 1_000_000_000n

interface Played {
  readonly isCounter?: boolean
  /** Whether values are whole numbers of 64 bits. */
  readonly isWhole?: boolean
}

/**
 * Gives samples of a second each to a rule. `|` is a sample that is missing, `?` a sample without a value, and `a/b`
 * values of two signals. The same text comes back where the rule begins (`ON`) and ends (`off`) where the text says.
 */
function play(rule: Test, text: string, { isCounter = true, isWhole = true }: Played = {}): string {
  const tokens = text.split(' ')
  const valueIn = (word: string): Value | undefined =>
    word === '?' ? undefined : isWhole ? BigInt(word) : Number(word)
  const plain = tokens.map((token) => token.replace(/ON|off/g, ''))
  const samples: ModelSample[] = plain.flatMap((token, number) =>
    token === '|'
      ? []
      : [{ number, timeNs: 5n * PERIOD_NS + BigInt(number) * PERIOD_NS, values: token.split('/').map(valueIn) }],
  )
  const signals = [{ isCounter }, { isCounter }]
  const { edges, unclear } = fixedEdges(signals, [{ name: 'r', signal: 0, test: rule }], samples)
  assert.equal(unclear.size, 0)
  const told = plain.map((token, number) => {
    const here = edges.filter(({ position }) => samples[position]?.number === number)
    return token + here.map(({ isStart }) => (isStart ? 'ON' : 'off')).join('')
  })
  return told.join(' ')
}

/** A sentence, a rule, and samples with what the rule does. */
const CASES: readonly [sentence: string, rule: Test, samples: string, options?: Played][] = [
  [
    'gt begins after matches in a row and ends after others in a row, each of its own number',
    { kind: 'gt', value: 10n, onSamples: 2, offSamples: 3 },
    '11 10 11 11ON 10 10 11 10 10 10off 11 11ON',
  ],
  ['an equal value matches neither gt', { kind: 'gt', value: 10n, onSamples: 1, offSamples: 1 }, '10 11ON 10off'],
  ['nor lt', { kind: 'lt', value: 10n, onSamples: 1, offSamples: 1 }, '10 9ON 10off'],
  [
    'a missing sample begins the count of gt anew, and leaves it active',
    { kind: 'gt', value: 10n, onSamples: 2, offSamples: 2 },
    '11 | 11 11ON | 11 10 | 10 10off',
  ],
  [
    'a sample without a value is a gap',
    { kind: 'gt', value: 10n, onSamples: 2, offSamples: 2 },
    '11 ? 11 11ON ? 10 ? 10 10off',
  ],
  [
    'gt looks at raw values of a counter that wraps',
    { kind: 'gt', value: 5n, onSamples: 1, offSamples: 1 },
    '4294967295ON 3off 6ON',
  ],
  [
    'gt compares 64 bits exactly',
    { kind: 'gt', value: 2n ** 64n - 2n, onSamples: 1, offSamples: 1 },
    '18446744073709551614 18446744073709551615ON 18446744073709551614off',
  ],
  [
    'gt of a field that is no whole number',
    { kind: 'gt', value: -0.5, onSamples: 1, offSamples: 1 },
    '-1 -0.5 -0.25ON -2off',
    { isWhole: false, isCounter: false },
  ],
  [
    'inc_gt fires where the value gained so much, and ends with the next sample that does not',
    { kind: 'inc_gt', value: 10n },
    '100 105 110ON 111off 119 120ON 131 150 151off 161ON',
  ],
  ['inc_gt of 0 fires with each sample', { kind: 'inc_gt', value: 0n }, '5ON 5 4 5'],
  [
    'inc_gt takes the value behind a reset as its reference',
    { kind: 'inc_gt', value: 10n },
    '1000 1010ON 5off 14 15ON 24off 25ON 3off',
  ],
  ['inc_gt has no sum that wraps', { kind: 'inc_gt', value: 10n }, `${2n ** 64n - 5n} ${2n ** 64n - 4n} 3 12 13ON`],
  [
    'inc_gt counts on where 32 bits wrap',
    { kind: 'inc_gt', value: 10n },
    '4294967290 4294967295 3 4ON 13off 14ON 15off',
  ],
  ['inc_gt keeps its reference over a gap', { kind: 'inc_gt', value: 10n }, '100 | | 110ON | 119off 120ON'],
  [
    'inc_gt of a gauge that falls keeps its reference',
    { kind: 'inc_gt', value: 10n },
    '100 50 109 110ON 0off 120ON',
    { isCounter: false },
  ],
  [
    'dt_gt is evaluated from so many samples on, begins at once, and ends after others in a row',
    { kind: 'dt_gt', value: 10n, overSamples: 2, offSamples: 3 },
    '0 20 20ON 20 20 40 40 40 40 40off 40 51ON',
  ],
  ['dt_lt', { kind: 'dt_lt', value: 10n, overSamples: 1, offSamples: 2 }, '0 9ON 18 28 38off 47ON'],
  [
    'a gap begins the window of dt_gt anew, and its count',
    { kind: 'dt_gt', value: 10n, overSamples: 2, offSamples: 2 },
    '0 0 20ON 20 20 | 100 200 200 200 200off',
  ],
  [
    'a reset begins the window of dt_gt anew',
    { kind: 'dt_gt', value: 10n, overSamples: 2, offSamples: 2 },
    '1000 1000 1000 5 5 5 16ON 16 16 16off',
  ],
  [
    'and that of dt_lt, which does not end',
    { kind: 'dt_lt', value: 10n, overSamples: 2, offSamples: 2 },
    '1000 1001 1002ON 1003 5 6 7 8 30 50off',
  ],
  [
    'a difference goes on where 32 bits wrap',
    { kind: 'dt_gt', value: 9n, overSamples: 1, offSamples: 1 },
    '3221225472 4294967290ON 4294967295off 4 14ON 23off',
  ],
  [
    'below three quarters of 32 bits a decrease is a reset',
    { kind: 'dt_lt', value: 10n, overSamples: 1, offSamples: 1 },
    '3221225471 0 5ON',
  ],
  [
    'as is one that does not fall below a quarter',
    { kind: 'dt_lt', value: 2n ** 33n, overSamples: 1, offSamples: 1 },
    '4294967295 1073741824 1073741825ON',
  ],
  [
    'at both limits it is a wrap',
    { kind: 'dt_gt', value: 2n ** 31n - 2n, overSamples: 1, offSamples: 1 },
    '3221225472 1073741823ON 1073741823off',
  ],
  [
    'from 32 bits on a decrease is a reset',
    { kind: 'dt_gt', value: 0n, overSamples: 1, offSamples: 1 },
    '4294967296 0 0',
  ],
  [
    'differences of a gauge are signed',
    { kind: 'dt_lt', value: 0n, overSamples: 1, offSamples: 1 },
    '10 9ON 9off 10 0ON',
    { isCounter: false },
  ],
  [
    'rate_gt looks back to the newest sample that is old enough',
    { kind: 'rate_gt', perSecond: 10, overNs: 1_500_000_000, offSamples: 1 },
    '0 100 20 121ON 40off',
    { isCounter: false },
  ],
  [
    'an equal rate does not match',
    { kind: 'rate_gt', perSecond: 10, overNs: 2_000_000_000, offSamples: 2 },
    '0 0 20 21ON 40 42 60 61off',
  ],
  ['rate_lt', { kind: 'rate_lt', perSecond: 0.5, overNs: 4_000_000_000, offSamples: 1 }, '0 0 0 0 1ON 2off'],
  [
    'a gap and a reset begin the window of a rate anew',
    { kind: 'rate_gt', perSecond: 1, overNs: 1_000_000_000, offSamples: 1 },
    '0 5ON | 10 20 3 6 6off',
  ],
  [
    'change begins with another value and ends after so many that stay',
    { kind: 'change', offSamples: 2 },
    '1 1 2ON 2 3 3 3off 4ON',
  ],
  ['change forgets the value at a gap', { kind: 'change', offSamples: 1 }, '1 | 2 3ON | 4 4off'],
  [
    'ratio_gt divides values of a sample; by 0 it does not match',
    { kind: 'ratio_gt', value: 0.5, to: 1, overSamples: 0, onSamples: 2, offSamples: 2 },
    '1/1 1/2 1/1 1/1ON 1/0 2/3 1/0 0/0off',
  ],
  [
    'ratio_lt neither',
    { kind: 'ratio_lt', value: 0.5, to: 1, overSamples: 0, onSamples: 1, offSamples: 1 },
    '1/2 0/0 1/3ON 1/0off',
  ],
  [
    'ratio of increases',
    { kind: 'ratio_gt', value: 0.5, to: 1, overSamples: 1, onSamples: 1, offSamples: 1 },
    '0/0 1/2 2/3ON 3/3off 4/4ON 4/5off',
  ],
  [
    'a reset of either signal begins the window of a ratio anew',
    { kind: 'ratio_gt', value: 0.5, to: 1, overSamples: 2, onSamples: 1, offSamples: 1 },
    '0/10 1/11 2/12ON 3/0 4/1 5/2 0/3 1/4 2/5 2/6off',
  ],
  [
    'of increases, of which a gauge decreases, neither matches',
    { kind: 'ratio_lt', value: 2, to: 1, overSamples: 1, onSamples: 1, offSamples: 1 },
    '5/5 6/4 4/6 5/7ON 4/8off',
    { isCounter: false },
  ],
  [
    'values may be below 0',
    { kind: 'ratio_lt', value: -1, to: 1, overSamples: 0, onSamples: 1, offSamples: 1 },
    '2/1 -2/1ON -1/1off 3/-2ON -3/-2off',
    { isWhole: false, isCounter: false },
  ],
  [
    'quantile_gt is the nearest rank of the last samples',
    { kind: 'quantile_gt', quantile: 0.5, value: 10n, overSamples: 4, offSamples: 1 },
    '11 11 10 10 11 11 11ON 9 9off',
    { isCounter: false },
  ],
  [
    'a quantile of 0 is the least, and one of 1 the greatest',
    { kind: 'quantile_lt', quantile: 0, value: 10n, overSamples: 3, offSamples: 1 },
    '10 11 12 9ON 10 10 10off',
    { isCounter: false },
  ],
  [
    'a gap begins the window of a quantile anew',
    { kind: 'quantile_gt', quantile: 1, value: 10n, overSamples: 2, offSamples: 1 },
    '11 1ON | 1 1off | 11 | 11 11ON',
    { isCounter: false },
  ],
]

for (const [sentence, rule, samples, options] of CASES) {
  test(sentence, () => assert.equal(play(rule, samples, options), samples))
}
