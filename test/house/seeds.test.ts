import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesOf, root } from '../../scripts/check/sources.ts'

/** What is another value in every run. Ids that are only names may come from it. */
const UNSEEDED = /\bMath\.random\(|\brandom(?:Int|Bytes)\(|new Random\([^)]*(?:Date\.now|env\.)/

test('tests draw their input from the seed alone, so that every run is the same', () => {
  const files = [...filesOf('packages/**/*.test.ts'), ...filesOf('packages/*/test/**/*.ts'), ...filesOf('test/**/*.ts')]
  const unseeded = files.filter((file) => UNSEEDED.test(readFileSync(join(root, file), 'utf8')))
  assert.ok(files.length > 200)
  assert.deepEqual(unseeded, [])
})
