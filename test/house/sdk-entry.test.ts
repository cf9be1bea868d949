import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolveImport, root, sourceFile } from '../../scripts/check/sources.ts'

const NAMES_MAX = 100

test('docs/sdk.md names each export of the SDK, and nothing that the SDK does not export', () => {
  const entry = readFileSync(join(root, 'packages/sdk/src/index.ts'), 'utf8')
  const guide = readFileSync(join(root, 'docs/sdk.md'), 'utf8')
  const lists = [...entry.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list)
  const exported = lists.flatMap((list) => list.match(/\w+(?=\s*(?:,|$))/g) ?? [])
  assert.ok(exported.includes('createSchema') && exported.includes('RecordOf'))
  assert.ok(exported.length <= NAMES_MAX, `${exported.length} names; allowed: ${NAMES_MAX}`)
  const named = [...guide.matchAll(/`(\w+)(?:<[^`]*>|\([^`]*\))?`/g)].map(([, name = '']) => name)
  assert.deepEqual(
    exported.filter((name) => !named.includes(name)),
    [],
  )
  assert.deepEqual(
    named.filter((name) => !exported.includes(name) && !['emit', 'flush'].includes(name)),
    [],
  )
})

test('the types and the client of the HTTP API run in a browser: they import nothing of Node, and no library', () => {
  const left = ['packages/sdk/src/api/index.ts', 'packages/sdk/src/client/index.ts']
  const reached = new Set<string>()
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    const text = readFileSync(join(root, path), 'utf8')
    // Types alone leave nothing behind.
    const file = sourceFile(path, text.replaceAll(/^(import|export) type [^;]*? from '.*'$/gm, ''))
    for (const { specifier } of file.imports) {
      assert.match(specifier, /^\./, `${path} imports ${specifier}`)
      left.push(resolveImport(file, specifier))
    }
  }
  assert.ok(reached.has('packages/sdk/src/client/api-requests.ts') && reached.size > 10, [...reached].join())
})
