import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../scripts/check/sources.ts'

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
