import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRulesFile } from './rules-file.ts'

test('rules without an end are refused at their limit', () => {
  assert.throws(() => readRulesFile('/dev/zero'), /larger than 1048576 bytes/)
})
