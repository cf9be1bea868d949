import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folders = globSync('*/', { cwd: import.meta.dirname })

for (const name of folders) {
  test(`the tests of ${name} run the suite that every sink passes`, () => {
    const texts = globSync(`${name}/*.test.ts`, { cwd: import.meta.dirname }).map((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    )
    assert.ok(texts.some((text) => /^ *testSink\(/m.test(text)))
  })
}
