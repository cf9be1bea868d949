import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { readRuleBook } from './read-rule-book.ts'
import { RX_BYTES, rulesText, testRule } from './test-rules.ts'

test('refuses text that is not JSON, with line and column, without quoting it', () => {
  const texts: Readonly<Record<string, string>> = {
    '{\n  "a": 1, /* why */ "b": 2}': 'line 2, column 11: found another character; allowed: a key in double quotes',
    "{'a': 1}": 'line 1, column 2: found another character; allowed: a key in double quotes',
    '{"a": [1, ]}':
      'line 1, column 11: found ]; allowed: an object, a list, text in double quotes, a number, true or false',
    '{"a": 1} // end': 'line 1, column 10: found another character; allowed: nothing after the end of the value',
    '{"a": 007}': 'line 1, column 8: found a digit; allowed: a comma or }',
    '{"a": NaN}':
      'line 1, column 7: found a letter; allowed: an object, a list, text in double quotes, a number, true or false',
    '\uFEFF{}':
      'line 1, column 1: found another character; allowed: an object, a list, text in double quotes, a number, true or false',
    '{"a': 'line 1, column 2: found "; allowed: text that ends with a double quote, without raw control characters',
    '': 'line 1, column 1: found the end; allowed: an object, a list, text in double quotes, a number, true or false',
  }
  for (const [text, message] of Object.entries(texts))
    assert.throws(() => readRuleBook(text), { code: 'RUL_SYNTAX', message }, text)
})

test('refuses more than its limits allow, and names them', () => {
  const limits = { fileBytes: 600, signals: 2, rules: 1, nameCharacters: 3 }
  const rule = testRule('gt', { comparison_value: 1 })
  assert.throws(() => readRuleBook(rulesText([rule], { x: 'x'.repeat(600) }), limits), {
    code: 'RUL_LIMIT',
    message: /allowed: at most 600 bytes$/,
  })
  assert.throws(
    () => readRuleBook(rulesText([rule]), limits),
    /data-ids is a list of 3; allowed: a list of 1 to 2 data IDs/,
  )
  assert.throws(() => readRuleBook('['.repeat(100_000)), { code: 'RUL_SYNTAX', message: /at most 32 levels$/ })
})

test('answers any damage of a file with an error of its own', () => {
  const text = rulesText([
    testRule('ratio_gt', { name: 'a', comparison_value: 1, to: 'tx' }),
    testRule('gt', { name: 'b', comparison_value: 1 }),
    { name: 'c', comparison_type: 'all_of', rules: ['a', 'b'], within_ms: 1 },
  ])
  const random = new Random(SEED)
  const pieces = ['"', '{', '}', '[', ']', ',', ':', 'null', '0', '-', '\\', '1e9', '\ud800', RX_BYTES, 'true']
  let refused = 0
  for (let round = 0; round < 4000; round++) {
    const at = random.integer(0, text.length - 1)
    const damaged = text.slice(0, at) + random.pick(pieces) + text.slice(at + random.integer(0, 5))
    try {
      readRuleBook(damaged)
    } catch (error) {
      assert.ok(error instanceof SondeError, `${damaged}: ${error}`)
      refused++
    }
  }
  assert.ok(refused > 2800 && refused < 4000, `${refused}`)
})
