import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { findUndocumented } from '../../scripts/check/docs.ts'
import { filesOf, root } from '../../scripts/check/sources.ts'

/** A line that is a comment, or a part of one, but for those that tell a tool something: they must be one line. */
const COMMENT = /^\s*(?:\/\/(?! biome-ignore)|\/\*\*?| \*) /

test('lines of comments are at most 120 columns long, as those of code are', () => {
  const long = filesOf('{packages,scripts,test,bench,examples}/**/*.{ts,tsx,mjs,css}').flatMap((path) => {
    const lines = readFileSync(join(root, path), 'utf8').split('\n')
    return lines.flatMap((line, at) => (line.length > 120 && COMMENT.test(line) ? [`${path}:${at + 1}`] : []))
  })
  assert.deepEqual(long, [])
})

test('finds what a package exports without saying what it is, also through another file', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-docs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('tsconfig.json', '{ "compilerOptions": { "module": "nodenext", "types": [] }, "include": ["packages"] }')
  const exports = { '.': { source: './src/index.ts' }, './extra': { source: './src/extra.ts' } }
  write('packages/sdk/package.json', JSON.stringify({ type: 'module', exports }))
  for (const name of ['agent', 'console']) write(`packages/${name}/package.json`, '{}')
  write('packages/sdk/src/index.ts', "export * from './parts.ts'\nexport { renamed as given } from './parts.ts'\n")
  write(
    'packages/sdk/src/parts.ts',
    `/** Says what it is. */
    export function good(): void {}
    // Not a documentation comment.
    export const bad = 1
    export interface AlsoBad { a: number }
    /** Has one under its own name. */
    export const renamed = 2
    const hidden = 3
    void hidden`,
  )
  write('packages/sdk/src/extra.ts', 'export class Worse {}\n')
  assert.deepEqual(findUndocumented(folder).sort(), [
    'packages/sdk/src/extra.ts: Worse has no documentation (packages/sdk/src/extra.ts)',
    'packages/sdk/src/index.ts: AlsoBad has no documentation (packages/sdk/src/parts.ts)',
    'packages/sdk/src/index.ts: bad has no documentation (packages/sdk/src/parts.ts)',
  ])
})
