// docs/security.md names tests, limits and places of the source. Each of them must exist.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { packageSources } from '../../scripts/check/sources.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGE = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
const INPUTS = PAGE.slice(PAGE.indexOf('## Inputs'), PAGE.indexOf('## Classes of faults')).split('\n### ').slice(1)
const SOURCES = packageSources().filter(({ path }) => !path.includes('.test.'))

/** The texts in backticks. A line break counts as a blank. */
const quoted = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words.replace(/\s+/g, ' '))

test('every input names its trust, its limits, and the tests that attack it', () => {
  assert.ok(INPUTS.length >= 15, `${INPUTS.length} inputs`)
  for (const input of INPUTS) {
    const [name] = input.split('\n', 1)
    for (const part of ['**Trusted with**', '**Limits**', '**Attacked by**'])
      assert.ok(input.includes(part), `${name}: ${part}`)
    const attacks = input.slice(input.indexOf('**Attacked by**'))
    const files = [...attacks.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join(dirname('docs/x'), link))
    assert.ok(files.length > 0, `${name} is attacked by no test`)
    for (const file of files) {
      assert.match(
        file,
        /\.test\.ts$|^test\/faults\/(loops|hostile)\/\w+\.ts$|\/conformance\.ts$/,
        `${name}: ${file} is no test`,
      )
      assert.ok(existsSync(join(ROOT, file)), `${name}: ${file} is not there`)
    }
  }
})

test('every limit that it names stands in the source as it is written there', () => {
  const limits = quoted(PAGE).filter((words) => /^[A-Z][A-Z0-9_]* = |^[a-z]\w+: \d/.test(words))
  assert.ok(limits.length > 40, `${limits.length} limits`)
  const missing = limits.filter((limit) => !SOURCES.some(({ text }) => text.includes(limit)))
  assert.deepEqual(missing, [])
})

test('every key and every file that it names is there', () => {
  const keys = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')
  const words = quoted(PAGE)
  const named = words.filter((word) => /^(limits|service|store|paths|export)\.[\w.]+$/.test(word))
  assert.deepEqual(
    named.filter((key) => !keys.includes(`\`${key}\``)),
    [],
  )
  const files = words.filter((word) => word.startsWith('packages/'))
  assert.ok(files.length > 10, `${files.length} files`)
  assert.deepEqual(
    files.filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
})

test('every place that makes code of text is listed', () => {
  const makers = SOURCES.filter(({ text }) => /\bnew Function\b/.test(text)).map(({ path }) => path)
  assert.ok(makers.length > 0)
  for (const path of makers) assert.ok(PAGE.includes(`\`${path}\``), `${path} is not listed`)
})
