import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findBrokenLinks } from '../../scripts/check/doc-links.ts'

/** Writes Markdown files into an empty folder and answers what is broken in the first of them. */
function brokenIn(context: TestContext, files: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-links-'))
  context.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return findBrokenLinks(Object.keys(files).slice(0, 1), folder)
}

test('finds a link to a missing file, with its line', (context) => {
  assert.deepEqual(brokenIn(context, { 'docs/a.md': 'Text.\n\nSee [this](missing.md) and ![that](../x.png).\n' }), [
    'docs/a.md:3: missing.md: there is no docs/missing.md',
    'docs/a.md:3: ../x.png: there is no x.png',
  ])
})

test('finds an anchor that no heading gives, here and in another file', (context) => {
  const files = {
    'a.md': '# Top of it\n[a](#top-of-it) [b](#nowhere) [c](docs/b.md#what-is-a-_sink_) [d](docs/b.md#else)\n',
    'docs/b.md': '# What is a _sink_?\n\n```md\n# Else\n```\n',
  }
  assert.deepEqual(brokenIn(context, files), [
    'a.md:2: #nowhere: no heading gives the anchor #nowhere',
    'a.md:2: docs/b.md#else: no heading gives the anchor #else',
  ])
})

test('numbers the anchors of equal headings, and knows anchors set by hand', (context) => {
  const text = '## `GET /x`\n## `GET /x`\n<a id="mine"></a>\n[1](#get-x) [2](#get-x-1) [3](#mine) [4](#get-x-2)\n'
  assert.deepEqual(brokenIn(context, { 'a.md': text }), ['a.md:4: #get-x-2: no heading gives the anchor #get-x-2'])
})

test('the README of a package has no links out of it, where nothing is once it is installed', (context) => {
  const files = { 'packages/sdk/README.md': '# S\n[a](../../docs/a.md) [b](#s)\n', 'docs/a.md': '# A\n' }
  const fault = 'a package is installed without what is beside it; name the page instead'
  assert.deepEqual(brokenIn(context, files), [`packages/sdk/README.md:2: ../../docs/a.md: ${fault}`])
})

test('leaves addresses on the web and code alone, and reads reference links', (context) => {
  const text = '[w](https://example.com/x.md) `[code](no.md)`\n```\n[fenced](no.md)\n```\n[ref]\n\n[ref]: gone.md\n'
  assert.deepEqual(brokenIn(context, { 'a.md': text }), ['a.md:7: gone.md: there is no gone.md'])
})
