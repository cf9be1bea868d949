import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSource, defineType, gauge, timestamp, wallNs } from '@sonde/sdk'
import { checkStore } from './check-store.ts'
import { createStore } from './store.ts'
import { DatabaseSync } from './worker/sqlite.ts'

const type = defineType('checked', 'Records of this test', { time: timestamp(), level: gauge('f64') })

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-check-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A closed store with records. */
async function storeAt(path: string): Promise<void> {
  const store = await createStore({ path })
  const source = createSource({ id: 'test', emit: (batch) => store.accept(batch) })
  for (let i = 0; i < 1000; i++) source.report(type, { time: wallNs(), level: i })
  source.flush()
  await store.close()
}

test('a sound store is present, and looking changes nothing', async (context) => {
  const path = join(folderOf(context), 'store.db')
  assert.equal(checkStore(path).state, 'absent')
  assert.equal(existsSync(path), false)
  await storeAt(path)
  assert.deepEqual(checkStore(path).state, 'present')
})

test('a store in use is taken, and is sound once it is closed', async (context) => {
  const path = join(folderOf(context), 'store.db')
  const store = await createStore({ path })
  const { state, found } = checkStore(path)
  assert.equal(state, 'taken')
  assert.equal(
    found,
    `${path} is open in another process; stop that process, or give store.dir, or --data-dir, another folder`,
  )
  await store.close()
  assert.equal(checkStore(path).state, 'present')
})

test('a folder of the kernel, where root may write and nothing can be made, is refused', () => {
  for (const folder of ['/proc/x', '/sys/x/y']) {
    const { state, found } = checkStore(join(folder, 'store.db'))
    assert.equal(state, 'denied')
    assert.match(
      found,
      /^\/\w+\/.*store\.db cannot be written: (EACCES|\/(proc|sys) is (procfs|sysfs) of the kernel, where nothing can be kept).*; give store\.dir/,
    )
  }
})

test('damage is said with the file and what the next start will do', async (context) => {
  const path = join(folderOf(context), 'store.db')
  await storeAt(path)
  truncateSync(path, 9000)
  const { state, found } = checkStore(path)
  assert.equal(state, 'damaged')
  assert.match(found, new RegExp(`^${path}: .*sets it aside`))
})

test('records of the head whose bytes are gone are reported, and looking changes nothing', async (context) => {
  const path = join(folderOf(context), 'store.db')
  await storeAt(path)
  rmSync(`${path}-head`, { recursive: true })
  writeFileSync(`${path}-head`, 'a text')
  const { state, found } = checkStore(path)
  assert.equal(state, 'damaged')
  assert.match(found, /: the bytes of 1000 records are not in .*store\.db-head; the next start goes on without them$/)
  assert.equal(readFileSync(`${path}-head`, 'utf8'), 'a text')
})

test('a database of another program is not ours to use', (context) => {
  const path = join(folderOf(context), 'store.db')
  const other = new DatabaseSync(path)
  other.exec('CREATE TABLE invoice (id)')
  other.close()
  assert.match(checkStore(path).found, /another program/)
})

test('a folder that is a file is refused', (context) => {
  const file = join(folderOf(context), 'file')
  writeFileSync(file, '')
  const { state, found } = checkStore(join(file, 'store.db'))
  assert.equal(state, 'denied')
  assert.match(found, /ENOTDIR.*store\.dir/)
})
