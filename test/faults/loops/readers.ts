import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../../debian.ts'
import { readWithBoth, writeEveryKind } from '../../dtb/both-readers.ts'
import { temporaryDir } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const RECORD_COUNT = 100_000

/** Files that a stranger's reader understands as ours does. */
export const readers: FaultLoop = {
  name: 'readers',
  what: 'records of every kind and any value, 100 000 a round in several files: `sonde read` and a reader in Python that was written from docs/dtb.md give the same ones',
  testRounds: 1,
  ...needs('python3'),
  async open() {
    const { path, remove } = temporaryDir()
    let records = 0
    let files = 0
    return {
      async round(random, index) {
        const dir = join(path, String(index))
        mkdirSync(dir)
        await writeEveryKind(join(dir, 'data'), RECORD_COUNT, random)
        const read = await readWithBoth(join(dir, 'data'), dir)
        assert.equal(read.records, RECORD_COUNT)
        assert.ok(read.files > 1, 'the records are in one file')
        records += read.records
        files += read.files
        rmSync(dir, { recursive: true })
      },
      async close() {
        remove()
        return `${records} records in ${files} files`
      },
    }
  },
}
