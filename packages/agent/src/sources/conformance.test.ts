import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { SOURCES } from './registry.ts'

test('a name in the registry is that of one source, a name of a type that of one type', () => {
  const names = SOURCES.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)])
  const types = [...new Set(SOURCES.flatMap((definition) => definition.types))].map(({ name }) => name)
  assert.deepEqual(types, [...new Set(types)])
})

for (const { name } of SOURCES) {
  test(`the tests of ${name} run the suite that every source passes`, () => {
    const folder = name.replaceAll('_', '-')
    const tests = fs.readFileSync(new URL(`${folder}/${folder}.test.ts`, import.meta.url), 'utf8')
    assert.match(tests, /^testSource\(/m)
  })
}
