import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { findLongComments, findLongProse } from '../../scripts/check/comments.ts'
import { findUndocumented } from '../../scripts/check/docs.ts'

test('finds lines of comments that are longer than lines of code may be', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-docs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const long = 'a'.repeat(120)
  const lines = [`// ${long}`, `// ${long.slice(3)}`, `const text = '${long}'`, ` * ${long}`, `// biome-ignore ${long}`]
  writeFileSync(join(folder, 'part.ts'), lines.join('\n'))
  assert.deepEqual(findLongComments(['part.ts'], folder), [
    'part.ts:1: a comment of 123 columns; allowed: 120',
    'part.ts:4: a comment of 123 columns; allowed: 120',
  ])
})

test('finds long lines of prose in Markdown, but not in tables, code and generated pages', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-docs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const long = 'a'.repeat(121)
  writeFileSync(join(folder, 'page.md'), [`# ${long}`, `| ${long} |`, '```', long, '```', `${long} word`].join('\n'))
  writeFileSync(join(folder, 'made.md'), `<!-- Made by a program. -->\n${long}`)
  assert.deepEqual(findLongProse(['page.md', 'made.md'], folder), ['page.md:6: a line of 126 columns; allowed: 120'])
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
