import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { Counting, numbersIn, upTo } from '../../test/counted-records.ts'
import { openStore, type TestStore } from '../../test/open-store.ts'
import { createStore, type Store } from './store.ts'

const HOUR_MS = 3_600_000

const headOf = (path: string): string => `${path}-head`

/** The files of a head, oldest first. */
function filesOf(path: string): string[] {
  const names = existsSync(headOf(path)) ? readdirSync(headOf(path)) : []
  return names
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => join(headOf(path), name))
}

/** Opens a store again after its files were changed, and returns its status and content. */
async function again(path: string, look: (store: Store) => Promise<void>): Promise<void> {
  const store = await createStore({ path, flushIntervalMs: 10 })
  try {
    await look(store)
    assert.equal(store.status().state, 'writing')
    const before = (await numbersIn(store)).length
    new Counting(store, 'later').report(10)
    await store.flush()
    assert.equal((await numbersIn(store)).length, before + 10, 'what comes is stored')
  } finally {
    await store.close()
  }
}

/** A closed store with a head of two files of 100 records each. */
async function filled({ store, path }: TestStore): Promise<void> {
  const counting = new Counting(store)
  counting.report(100)
  await store.flush()
  await store.close()
  const second = await createStore({ path })
  const later = new Counting(second, 'second')
  later.report(100)
  await second.flush()
  await second.close()
  assert.equal(filesOf(path).length, 2)
}

for (const [what, damage, kept, told] of [
  ['bytes behind the last row', ([, last = '']) => appendFileSync(last, 'half of a page'), 200, ''],
  ['a file that was cut short', ([, last = '']) => truncateSync(last, statSync(last).size - 1), 100, '100 records'],
  ['a file that is gone', ([first = '']) => rmSync(first), 100, '100 records'],
  ['a folder that is gone', ([first = '']) => rmSync(join(first, '..'), { recursive: true }), 0, '200 records'],
  [
    'a file in place of the folder',
    ([first = '']) => {
      rmSync(join(first, '..'), { recursive: true })
      writeFileSync(join(first, '..'), 'a text')
    },
    0,
    '200 records',
  ],
] as const satisfies [string, (files: string[]) => void, number, string][]) {
  test(`a head with ${what}: the other records are there, and what is lost is reported`, async () => {
    const opened = await openStore()
    try {
      await filled(opened)
      damage(filesOf(opened.path))
      await again(opened.path, async (store) => {
        assert.equal((await numbersIn(store)).length, kept)
        const { reason } = store.status()
        if (told === '') assert.equal(reason, '')
        else assert.match(reason, new RegExp(`^${told} \\(\\d+ bytes\\) had not reached the disk`))
      })
    } finally {
      await opened.close()
    }
  })
}

test('a byte of the head that changed costs its row, which is counted; also compaction leaves it out', async () => {
  const opened = await openStore()
  try {
    await filled(opened)
    const [first = ''] = filesOf(opened.path)
    const bytes = readFileSync(first)
    bytes[20] = (bytes[20] ?? 0) ^ 1
    writeFileSync(first, bytes)
    await again(opened.path, async (store) => {
      assert.deepEqual(await numbersIn(store), upTo(100))
      await store.maintain()
      assert.ok(store.status().corruptChunks > 0)
    })
  } finally {
    await opened.close()
  }
})

test('records that are compacted leave the head, and its files leave the disk', async () => {
  const { store, path, close } = await openStore()
  try {
    const counting = new Counting(store)
    counting.report(1000, Date.now() - 3 * HOUR_MS)
    await store.flush()
    assert.equal(filesOf(path).length, 1)
    await store.maintain()
    assert.deepEqual(filesOf(path), [])
    assert.deepEqual(await numbersIn(store), upTo(1000))
  } finally {
    await close()
  }
})

test('a source with few records keeps no file of a busy source', async () => {
  const { store, path, close } = await openStore()
  try {
    const much = new Counting(store)
    const little = new Counting(store, 'little')
    for (let turn = 0; turn < 5; turn++) {
      much.report(1000, Date.now() - 3 * HOUR_MS)
      little.report(1)
      await store.flush()
      await store.maintain()
    }
    const bytes = filesOf(path).reduce((sum, file) => sum + statSync(file).size, 0)
    assert.ok(bytes > 0 && bytes < 1000, `${bytes} bytes for the 5 records of this hour`)
    assert.equal((await numbersIn(store)).length, 5005)
  } finally {
    await close()
  }
})

test('a file stays as long as a reader in another process sees its rows', async () => {
  const { store, path, close } = await openStore()
  try {
    new Counting(store).report(1000, Date.now() - 3 * HOUR_MS)
    await store.flush()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN')
    assert.equal(reader.prepare('SELECT sum(count) AS count FROM head').get()?.count, 1000)
    await store.maintain()
    assert.equal(filesOf(path).length, 1)
    reader.exec('COMMIT')
    reader.close()
    await store.maintain()
    assert.deepEqual(filesOf(path), [])
  } finally {
    await close()
  }
})

test('files that no row knows leave at the start; those of others stay', async () => {
  const opened = await openStore()
  const { path } = opened
  try {
    await filled(opened)
    writeFileSync(join(headOf(path), '17.records'), 'of a page that was never acknowledged')
    writeFileSync(join(headOf(path), 'notes.txt'), 'of somebody else')
    await again(path, async (store) => assert.equal((await numbersIn(store)).length, 200))
    const names = readdirSync(headOf(path))
    assert.ok(!names.includes('17.records') && names.includes('notes.txt'), names.join())
  } finally {
    await opened.close()
  }
})

test('a head that is removed while it is open is noticed, and new records are stored', async () => {
  const { store, path, close } = await openStore()
  try {
    new Counting(store).report(10)
    await store.flush()
    rmSync(headOf(path), { recursive: true })
    await until('that is noticed', () => store.status().errors > 0)
    await until('it writes again', () => store.status().state === 'writing')
    assert.match(store.status().reason, /10 records .* lost/)
    new Counting(store, 'later').report(20)
    await store.flush()
    assert.deepEqual(await numbersIn(store), upTo(20))
  } finally {
    await close()
  }
})

test('with `durability: block` records come back as they were, too', async () => {
  const { store, path, close } = await openStore({ durability: 'block' })
  try {
    new Counting(store).report(1000, Date.now() - 3 * HOUR_MS)
    await store.flush()
    assert.deepEqual(await numbersIn(store), upTo(1000))
    await store.maintain()
    assert.deepEqual([await numbersIn(store), filesOf(path)], [upTo(1000), []])
  } finally {
    await close()
  }
})
