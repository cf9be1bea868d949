import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, gauge, label, timestamp } from '@sonde/sdk'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { describeRule } from './describe-rule.ts'

test('one sample is written in the singular, several in the plural', () => {
  const rule = { signal: 'heat', comparison_type: 'gt', comparison_value: 220 }
  const text = JSON.stringify({
    sample_history_depth: 1,
    signals: [{ name: 'heat', type: 'oven', field: 'celsius' }],
    rules: [
      { ...rule, name: 'at once' },
      { ...rule, name: 'for long', activate_samples: 3 },
    ],
  })
  const { book } = readRuleBook(text)
  assert.deepEqual(
    book.rules.map((each) => describeRule(each, book)),
    ['heat is above 220 for 1 sample', 'heat is above 220 for 3 samples'],
  )
})

test('a limit has the unit of its field, and a prefix only while it stays exact', () => {
  const type = defineType('link', 'A link', {
    time: timestamp(),
    name: label(),
    speed: gauge('f64', { unit: 'transfers_per_second' }),
    share: gauge('f64', { unit: 'ratio' }),
    bytes: gauge('u64', { unit: 'bytes' }),
    turns: gauge('f64', { unit: 'turns_per_hour' }),
  })
  const rule = (signal: string, comparison_value: number) => ({
    ...{ name: `${signal} ${comparison_value}`, signal, comparison_type: 'lt', comparison_value },
  })
  const text = JSON.stringify({
    sample_history_depth: 1,
    signals: ['speed', 'share', 'bytes', 'turns'].map((field) => ({ name: field, type: 'link', field })),
    rules: [
      rule('speed', 32e9),
      rule('speed', 2.5),
      rule('share', 0.25),
      rule('bytes', 1048576),
      rule('turns', 3000000),
    ],
  })
  const { book } = readRuleBook(text)
  const limitOf = (words: string) => / is below (.+) for 1 sample$/.exec(words)?.[1]?.replaceAll('\u00a0', ' ')
  assert.deepEqual(
    book.rules.map((each) => limitOf(describeRule(each, book, [type]))),
    ['32 GT/s', '2.5 T/s', '0.25', '1048576 B', '3000000 turns per hour'],
  )
})
