import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findStalePages, generatedPages } from '../../scripts/check/generated.ts'
import { root } from '../../scripts/check/sources.ts'
import { temporaryDir } from '../sonde-process.ts'

test('the generated pages say what the sources say', () => {
  assert.deepEqual(findStalePages(root), [])
})

test('a page that is missing or was changed by hand is stale', (t) => {
  const { path: folder, remove } = temporaryDir()
  t.after(remove)
  const [[path, text] = ['', '']] = Object.entries(generatedPages())
  const finding = `${path} is stale; renew it with: npm run docs`
  assert.deepEqual(findStalePages(folder), [finding])
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, path), text)
  assert.deepEqual(findStalePages(folder), [])
  writeFileSync(join(folder, path), text.replace('9394', '9395'))
  assert.deepEqual(findStalePages(folder), [finding])
})
