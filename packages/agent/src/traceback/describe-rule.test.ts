import assert from 'node:assert/strict'
import { test } from 'node:test'
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
