// Code that is made of text may run what a definition says: schema/generated-code.test.ts looks at all there is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packageSources } from '../../scripts/check/sources.ts'

const MAKERS = /\bnew Function\b|\beval\(|\bcompileFunction\(|\brunIn\w*Context\(|\bnew (vm\.)?Script\(/

test('only the encoder, the reporter and the writer of flows make code of text', () => {
  const made = packageSources().filter(({ path, text }) => !path.includes('.test.') && MAKERS.test(text))
  assert.deepEqual(
    made.map(({ path }) => path),
    [
      'packages/sdk/src/schema/encoder.ts',
      'packages/sdk/src/source/reporter.ts',
      'packages/sdk/src/wire/netflow/record-writer.ts',
    ],
  )
})
