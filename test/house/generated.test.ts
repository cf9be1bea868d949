import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { findStalePages, generatedPages } from '../../scripts/check/generated.ts'
import { root } from '../../scripts/check/sources.ts'
import { temporaryDir } from '../sonde-process.ts'

const made = generatedPages()

test('the generated pages say what the sources say', () => {
  assert.deepEqual(findStalePages(root, made), [])
})

test('no generated page says undefined where it has nothing to say', () => {
  for (const [path, text] of Object.entries(made)) assert.doesNotMatch(text, /^undefined$/m, path)
})

test('a page that is missing or was changed by hand is stale', (t) => {
  const { path: folder, remove } = temporaryDir()
  t.after(remove)
  const pages = Object.entries(made)
  const finding = (path: string) => `${path} is stale; renew it with: npm run docs`
  assert.deepEqual(
    findStalePages(folder, made),
    pages.map(([path]) => finding(path)),
  )
  for (const [path, text] of pages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  assert.deepEqual(findStalePages(folder, made), [])
  for (const [path, text] of pages) {
    writeFileSync(join(folder, path), `${text}.`)
    assert.deepEqual(findStalePages(folder, made), [finding(path)])
    writeFileSync(join(folder, path), text)
  }
})
