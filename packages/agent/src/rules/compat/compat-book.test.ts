import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GUIDE, RX_BYTES, rulesText, testRule } from '../read/test-rules.ts'
import { readCompatBook } from './compat-book.ts'

test('reads numbers as C does: text, truncation, junk and clamps', () => {
  const value = (written: string) => {
    const text = rulesText([testRule('gt', { comparison_value: 77 })]).replace('77', written)
    return readCompatBook(text).header.rules[0]?.value
  }
  assert.equal(value('-5'), 2n ** 64n - 5n)
  assert.equal(value('1.5'), 1n)
  assert.equal(value('1e6'), 1n)
  assert.equal(value('"text"'), 0n)
  assert.equal(value('-99999999999999999999'), 2n ** 63n)
  assert.equal(value('"-99999999999999999999"'), 2n ** 64n - 1n)
  assert.equal(value('99999999999999999999'), 2n ** 64n - 1n)
  const period = (written: unknown) =>
    readCompatBook(rulesText([testRule('gt', { comparison_value: 1 })], { diag_sample_period_ns: written })).rules
      .samplePeriodNs
  assert.equal(period(2 ** 32 + 7), 7)
  assert.equal(period('100 ns'), 100)
  assert.equal(period('garbage'), 0)
})

test('reads a data ID that is a number in decimal as hexadecimal', () => {
  const rule = { name: 'r', data_id: '10', comparison_type: 'gt', comparison_value: 1 }
  const { header } = readCompatBook(rulesText([rule], { 'data-ids': [{ name: { a: '/' }, data_id: 10 }] }))
  assert.deepEqual(header.dataIds, [{ name: '{ "a": "\\/" }', id: 0x10n }])
})

test('couples window and hysteresis to the depth, and takes the first of equal IDs', () => {
  const ids = [
    { name: 'a\u0000b', data_id: RX_BYTES },
    { name: 'b', data_id: RX_BYTES },
  ]
  const { rules, header } = readCompatBook(
    rulesText([testRule('dt_lt', { comparison_value: 3 })], { 'data-ids': ids, sample_history_depth: 8 }),
  )
  assert.deepEqual(rules.rules, [
    { name: 'r', signal: 0, test: { kind: 'dt_lt', value: 3n, overSamples: 8, offSamples: 8 } },
  ])
  assert.equal(header.dataIds[0]?.name, 'a')
  assert.equal(header.rules[0]?.type, 'differential_less_than')
})

test("refuses what the reference refuses, its guide's own example included, and says the first fault alone", () => {
  const rule = testRule('gt', { comparison_value: 1 })
  const cases: readonly [string, RegExp][] = [
    [JSON.stringify(GUIDE), /^sample_history_depth is 10000; allowed: a power of two from 1 to 1073741824$/],
    [rulesText([rule], { sample_history_depth: 0 }), /sample_history_depth is 0/],
    [rulesText([rule], { sample_history_depth: 2 ** 31 }), /sample_history_depth is 2147483648/],
    [rulesText([rule]).replace('data-ids', 'data_ids'), /^data-ids is missing/],
    [rulesText([rule], { 'data-ids': [] }), /^data-ids is no list, or is empty/],
    [rulesText([rule], { 'data-ids': [5] }), /^data-ids\[0\]\.name is missing/],
    [rulesText([rule], { rules: {} }), /^rules is no list, or is empty/],
    [rulesText([testRule('GT', { comparison_value: 1 })]), /^rules\[0\]\.comparison_type is "GT"/],
    [rulesText([testRule('toString', { comparison_value: 1 })]), /^rules\[0\]\.comparison_type is "toString"/],
    [rulesText([{ ...rule, data_id: '0x1' }]), /^rules\[0\]\.data_id is 0x0000000000000001/],
    [rulesText([{ ...rule, name: null }]), /^rules\[0\]\.name is null, which crashes the reference application/],
    ['[]', /^diag_sample_period_ns is missing/],
    ['  ', /^no JSON at byte 2/],
  ]
  for (const [text, message] of cases) assert.throws(() => readCompatBook(text), { code: 'RUL_COMPAT', message }, text)
})
