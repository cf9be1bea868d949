import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeFolders, makeFoldersNow } from './make-folders.ts'

const WAYS = [
  { name: 'who waits', make: makeFolders },
  { name: 'who cannot wait', make: async (folder: string) => makeFoldersNow(folder) },
] as const

function temporaryFolder(t: TestContext): string {
  const top = mkdtempSync(join(tmpdir(), 'sonde-folder-'))
  t.after(() => rmSync(top, { recursive: true }))
  return top
}

for (const { name, make } of WAYS) {
  test(`a folder is made with those above it, and again without harm, for ${name}`, async (t) => {
    const top = temporaryFolder(t)
    const folder = join(top, 'a', 'b', 'c')
    await make(folder)
    await make(folder)
    assert.ok(statSync(folder).isDirectory())
    writeFileSync(join(top, 'file'), '')
    await assert.rejects(make(join(top, 'file')), { code: 'EEXIST' })
    await assert.rejects(make(join(top, 'file', 'below')), { code: /EEXIST|ENOTDIR/ })
  })

  test(`where the file system lets nothing be made, that is said at once to ${name}`, {
    skip: process.platform !== 'linux',
  }, async () => {
    await assert.rejects(make('/proc/1/nope'), { code: /ENOENT|EACCES|EPERM/ })
    await assert.rejects(make('/proc/self/nope/deeper'), { code: /ENOENT|EACCES|EPERM/ })
  })
}

test('who makes folders is given the first that was missing', async (t) => {
  const top = temporaryFolder(t)
  assert.equal(await makeFolders(join(top, 'a', 'b', 'c')), join(top, 'a'))
  assert.equal(await makeFolders(join(top, 'a', 'b', 'd')), join(top, 'a', 'b', 'd'))
  assert.equal(await makeFolders(join(top, 'a', 'b')), undefined)
})
