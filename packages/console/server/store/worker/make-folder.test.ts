import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from './make-folder.ts'

test('a folder is made with those above it, and again without harm', () => {
  const top = mkdtempSync(join(tmpdir(), 'sonde-folder-'))
  try {
    const folder = join(top, 'a', 'b', 'c')
    makeFolder(folder)
    makeFolder(folder)
    assert.ok(statSync(folder).isDirectory())
    writeFileSync(join(top, 'file'), '')
    assert.throws(() => makeFolder(join(top, 'file')), { code: 'EEXIST' })
    assert.throws(() => makeFolder(join(top, 'file', 'below')), { code: /EEXIST|ENOTDIR/ })
  } finally {
    rmSync(top, { recursive: true })
  }
})

test('where the file system lets nothing be made, that is said at once', { skip: process.platform !== 'linux' }, () => {
  assert.throws(() => makeFolder('/proc/1/nope'), { code: /ENOENT|EACCES|EPERM/ })
  assert.throws(() => makeFolder('/proc/self/nope/deeper'), { code: /ENOENT|EACCES|EPERM/ })
})
