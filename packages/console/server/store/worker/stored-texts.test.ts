import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TEXT_ID_MIN } from '@sonde/sdk/internal'
import { DatabaseSync } from './sqlite.ts'
import { StoredTexts } from './stored-texts.ts'

test('a table of texts that was replaced leaves with the last row of the head that refers to it', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-texts-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const database = new DatabaseSync(join(dir, 'store.db'))
  t.after(() => database.close())
  database.exec(`CREATE TABLE symbol (writer INTEGER NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (writer, id)) WITHOUT ROWID; CREATE TABLE head (id INTEGER PRIMARY KEY, writer INTEGER NOT NULL)`)
  const texts = new StoredTexts(database)
  const row = () => Number(database.prepare('INSERT INTO head (writer) VALUES (1)').run().lastInsertRowid)
  const count = () => Number(database.prepare('SELECT count(*) AS n FROM symbol').get()?.n)
  const rows: number[] = []
  // As in the store, which commits a page at a time. A commit for each text would wait for the disk.
  database.exec('BEGIN')
  for (let table = 0; table < 20; table++) {
    const from = TEXT_ID_MIN + table * 5000
    texts.add(1, from, [])
    texts.add(
      1,
      from,
      Array.from({ length: 5000 }, (_, i) => `${table} ${i}`),
    )
    rows.push(row())
    texts.pageWritten()
    assert.equal(texts.of(1, from + 4999), `${table} 4999`)
    if (rows.length <= 3) continue
    // Compaction took the earliest row. The page that brings a new table may still refer to the old table, so the old
    // table is deleted a row later.
    database.prepare('DELETE FROM head WHERE id = ?').run(rows.shift() ?? 0)
    texts.deleteUnused()
    assert.equal(count(), 4 * 5000)
    assert.equal(texts.of(1, from - 4 * 5000), undefined)
    assert.equal(texts.of(1, from - 3 * 5000), `${table - 3} 0`)
  }
})
