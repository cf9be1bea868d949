import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { SINKS } from '../../packages/sdk/src/sinks/registry.ts'
import { root } from '../../scripts/check/sources.ts'

/** Blocks of YAML in a page, with the line of each. */
function yamlBlocks(page: string): { readonly line: number; readonly text: string }[] {
  return [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(({ index, 1: text = '' }) => {
    return { line: page.slice(0, index).split('\n').length + 1, text }
  })
}

test('every configuration of docs/destinations.md is accepted as pasted, and each kind has one', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-docs-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const kinds = new Set<string>()
  for (const { line, text } of yamlBlocks(readFileSync(join(root, 'docs/destinations.md'), 'utf8'))) {
    const file = join(dir, 'sonde.yaml')
    // Files of certificates and secrets are not on this machine.
    const own = text
      .replace(/(?:, )?\b(?:\w+_file): [^\s,}]+/g, '')
      .replace(/^ +username: node\n/gm, '')
      .replace('{,', '{')
    writeFileSync(file, own.replace(/^ +tls: \{ *\}\n/gm, ''))
    try {
      const { plain } = loadConfig({ file, environment: {} })
      for (const kind of Object.keys(plain.export as object)) kinds.add(kind)
    } catch (error) {
      assert.fail(`docs/destinations.md:${line}: ${error}`)
    }
  }
  for (const { name } of SINKS) assert.ok(kinds.has(name), `docs/destinations.md has a configuration of ${name}`)
})
