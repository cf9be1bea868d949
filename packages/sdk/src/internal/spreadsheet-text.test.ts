import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadsheetText } from './spreadsheet-text.ts'

test('a text that a spreadsheet would compute has an apostrophe before it; other texts are unchanged', () => {
  for (const text of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '=\n1',
    '=HYPERLINK("http://a";"b")',
  ])
    assert.equal(spreadsheetText(text), `'${text}`)
  for (const text of ['', '-', '=', 'a=1', ' =1', "'=1", '{"a":"=1"}', '10.0.0.1'])
    assert.equal(spreadsheetText(text), text)
})
