import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findFiles } from './files.ts'

test('a folder has its files of records, and those that an ended process left in a queue', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-read-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const names = ['0000000000000007.bin', '1796002266771000.bin.late']
  for (const name of [...names, '.cursor', '.lock', 'x.late', 'x.bin.part']) writeFileSync(join(dir, name), '')
  const { files, faults } = findFiles([dir])
  assert.deepEqual(
    files,
    names.map((name) => join(dir, name)),
  )
  assert.deepEqual(faults, [])
})
