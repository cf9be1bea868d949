import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { AS_ROOT, asOtherUser } from '../../../../test/other-user.ts'
import { lockFile } from './file-lock.ts'
import { loadSqlite } from './sqlite.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sonde-lock-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Takes a lock, or says why not. */
const HOLDER = `
import { DatabaseSync } from 'node:sqlite'
new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
console.log('locked')
process.stdin.resume()`

test('a lock file is open to its user alone, and says to a second process that the lock is taken', async (t) => {
  const path = join(folder(t), 'lock')
  const lock = lockFile(path)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(lockFile(path), undefined)
  lock?.close()
  lockFile(path)?.close()
})

test('a file that others could open is replaced, and so are a link and what is no lock', (t) => {
  const dir = folder(t)
  const path = join(dir, 'lock')
  const elsewhere = join(dir, 'elsewhere')
  writeFileSync(elsewhere, 'kept')
  const made = [
    () => writeFileSync(path, ''),
    () => symlinkSync(elsewhere, path),
    () => writeFileSync(path, 'x', { mode: 0o600 }),
  ]
  for (const make of made) {
    rmSync(path, { force: true })
    make()
    lockFile(path)?.close()
    assert.equal(statSync(path).mode & 0o777, 0o600)
  }
  assert.equal(statSync(elsewhere).size, 4)
})

test('a lock that an earlier version holds in a file that others can open stays its own', (t) => {
  const path = join(folder(t), 'lock')
  const earlier = new (loadSqlite().DatabaseSync)(path)
  chmodSync(path, 0o644)
  earlier.exec('BEGIN EXCLUSIVE')
  assert.equal(lockFile(path), undefined)
  assert.equal(statSync(path).mode & 0o777, 0o644)
  earlier.close()
  lockFile(path)?.close()
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a lock that another user holds in a file that everybody could write counts for nothing', AS_ROOT, async (t) => {
  const dir = folder(t)
  const path = join(dir, 'lock')
  chmodSync(dir, 0o755)
  writeFileSync(path, '')
  chmodSync(path, 0o666)
  assert.equal((await asOtherUser(t, HOLDER, path)).said, 'locked')
  const lock = lockFile(path)
  assert.notEqual(lock, undefined)
  lock?.close()
})
