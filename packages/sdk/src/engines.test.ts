import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
/** Pages load these too, where there is no Node. */
const FOR_BROWSERS = new Set(['./api', './client'])
const ENTRIES = Object.keys(manifest.exports)
  .filter((entry) => !FOR_BROWSERS.has(entry))
  .map((entry) => entry.replace('.', '@sonde/sdk'))

/** What loading an entry says on stderr where Node is of a version. */
async function load(entry: string, version: string): Promise<string> {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const program = `${older}; import('${entry}').catch(({ code, message }) => console.error(code, message))`
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const { stderr } = await promisify(execFile)(process.execPath, [...flags, '--eval', program], {
    cwd: import.meta.dirname,
  })
  return stderr
}

test('every entry refuses to load below the Node of the manifest, with a sentence', async () => {
  const [, oldest = ''] = /^>=(\d+\.\d+)$/.exec(manifest.engines.node) ?? []
  const [major = 0, minor = 0] = oldest.split('.').map(Number)
  for (const entry of ENTRIES) {
    for (const version of ['20.20.2', `${major}.${minor - 1}.9`, '8.0.0']) {
      const wanted = `SDK_NODE @sonde/sdk needs Node ${oldest} or newer, and this is ${version}; run it with a newer Node\n`
      assert.equal(await load(entry, version), wanted, entry)
    }
    for (const version of [`${oldest}.0`, `${major + 1}.0.0`]) assert.equal(await load(entry, version), '', entry)
  }
})
