import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SINKS } from './registry.ts'

const folders = globSync('*/', { cwd: import.meta.dirname })

test('docs/destinations.md says the order of each destination', () => {
  const page = readFileSync(new URL('../../../../docs/destinations.md', import.meta.url), 'utf8')
  const orders = [...page.matchAll(/^\| `(\w+)` \| `(total|series|none)` \|/gm)].map(([, name, order]) => [name, order])
  assert.deepEqual(
    orders,
    SINKS.map(({ name, order }) => [name, order]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  )
})

for (const name of folders) {
  test(`the tests of ${name} run the suite that every sink passes`, () => {
    const texts = globSync(`${name}/*.test.ts`, { cwd: import.meta.dirname }).map((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    )
    assert.ok(texts.some((text) => /^ *testSink\(/m.test(text)))
  })
}
