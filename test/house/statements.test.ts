// The pages that compare the documents that Sonde follows, statement by statement: what works has a test.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesOf, root } from '../../scripts/check/sources.ts'

const EXAMPLES = filesOf('examples/*.ts')

/** The tests that a row names: as links of the page, or by their path below `test`. A test runs each example. */
function testsOf(row: string, page: string): string[] {
  const links = Array.from(row.matchAll(/\]\(([^)#]+\.ts)\)/g), ([, target = '']) => join(page, '..', target))
  const named = Array.from(row.matchAll(/`([\w-]+\/[\w-]+)`/g), ([, name]) => `test/${name}.test.ts`)
  const beside = Array.from(row.matchAll(/`([\w-]+)`/g), ([, name]) => {
    return `packages/agent/src/sources/${name}/${name}.test.ts`
  })
  return [...links, ...named, ...beside].filter(
    (path) => EXAMPLES.includes(path) || (path.endsWith('.test.ts') && existsSync(join(root, path))),
  )
}

for (const page of ['docs/seeds.md', 'docs/doca.md'])
  test(`${page}: each statement works, differs or is not ours, and what works names a test that exists`, () => {
    const text = readFileSync(join(root, page), 'utf8')
    const tables = text.matchAll(/^\| \w+ \| \| Test, or reason \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/gm)
    const rows = Array.from(tables, ([, table = '']) => table.trim().split('\n')).flat()
    const statements = rows.filter((row) => !/^\| \*\*.+\*\* \| \| \|$/.test(row))
    assert.ok(statements.length > 30)
    assert.deepEqual(
      statements.filter((row) => !/^\| .+? \| (works|differs|not ours) \| .+ \|$/.test(row)),
      [],
    )
    const untested = statements.filter((row) => / \| works \| /.test(row) && testsOf(row, page).length === 0)
    assert.deepEqual(untested, [])
  })
