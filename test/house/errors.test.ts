import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ELEMENTS } from '../../packages/sdk/src/schema/elements.ts'
import { filesOf, packageSources, root } from '../../scripts/check/sources.ts'

/** Codes of Node, its parser, DOCA and NVML, names of the environment and of metrics, which look alike. */
const FOREIGN = /^(BAD|CLX|DCGM|DOCA|DRAM|ECC|ERR|GPU|HPE|IRQ|LIB|MEM|MIG|NOT|OTEL|PCIE|PIPE|TIME|TOO|USEC|XDG)_/

const CODE = '[A-Z]{3,4}_[A-Z][A-Z0-9_]*'

/** The codes that code uses: in quotes. */
function codesUsed(text: string): string[] {
  return [...text.matchAll(new RegExp(`(['"])(${CODE})\\1`, 'g'))]
    .map(([, , code = '']) => code)
    .filter((code) => !FOREIGN.test(code))
}

/**
 * The codes that comments and pages speak of: between backticks, and with the letters of a room. Names of elements of
 * NetFlow look alike.
 */
function codesMentioned(text: string): string[] {
  return [...text.matchAll(new RegExp(`["\`](${CODE})["\`]`, 'g'))]
    .map(([, code = '']) => code)
    .filter((code) => rooms.has(roomOf(code)) && !elements.has(code))
}

function roomOf(code: string): string {
  return code.slice(0, code.indexOf('_'))
}

/** The rows of all tables in a page: what stands in their cells. */
function rowsOf(page: string): string[][] {
  return page.split('\n').flatMap((line) => (/^\| `/.test(line) ? [line.split('|').map((cell) => cell.trim())] : []))
}

const rows = rowsOf(readFileSync(join(root, 'docs/errors.md'), 'utf8'))
const documented = rows.map(([, code = '']) => code.replaceAll('`', ''))
const rooms = new Set(documented.map(roomOf))
const elements = new Set(Object.values(ELEMENTS).flatMap((form) => Object.keys(form)))
const sources = packageSources().filter(({ path }) => !/\.test(-d)?\.tsx?$|\/test\//.test(path))

test('docs/errors.md has each code that a source names, and no other', () => {
  const named = [...new Set(sources.flatMap(({ text }) => codesUsed(text)))].sort()
  assert.ok(named.includes('SRC_VALUE'))
  assert.deepEqual([...documented].sort(), named)
})

test('docs/errors.md says of each code what it means and what to do', () => {
  for (const [, code, means, advice] of rows) {
    assert.ok((means?.length ?? 0) > 10, `${code} means nothing`)
    assert.ok((advice?.length ?? 0) > 5, `${code} says not what to do`)
  }
})

test('pages and comments speak of no code that there is not', () => {
  const pages = filesOf('{docs,packages,examples}/**/*.md').map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
  const stale = [...sources, ...pages].flatMap(({ path, text }) =>
    codesMentioned(text).flatMap((code) => (documented.includes(code) ? [] : [`${path}: ${code}`])),
  )
  assert.deepEqual(stale, [])
})

test('finds a code wherever it is written', () => {
  const text =
    "new SondeError('ABC_D', x); code: \"XYZ_E2\"; ENV_A; 'ERR_NODE'; 'POST' // throws `SRC_GONE`, not `HEAD_BYTES`"
  assert.deepEqual(codesUsed(text), ['ABC_D', 'XYZ_E2'])
  assert.deepEqual(codesMentioned(text), ['SRC_GONE'])
})
