import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { type Ending, pathsBelow, readFiles, temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { BatchSource, newPortType } from '../../../test/sink-records.ts'
import { wallNs } from '../../source/clock.ts'
import type { FilesOptions } from './config.ts'
import { createFiles, type FilesSink } from './files.ts'

const DAY_US = 86_400_000_000
const START_US = Date.UTC(2026, 2, 4) * 1000

function openFiles(t: Ending, options: FilesOptions): FilesSink {
  const sink = createFiles({ durability: 'none', ...options })
  t.after(() => sink.close())
  return sink
}

/** Some files of a source, a thousand records each, made `apartUs` after another. */
async function writeFiles(dataRoot: string, count: number, options: FilesOptions = {}, id = 'old'): Promise<void> {
  let made = 0
  const nowUs = () => START_US + made * 60_000_000
  const source = new BatchSource({ id })
  for (; made < count; made++) {
    const sink = createFiles({ dataRoot, durability: 'none', nowUs, ...options })
    sink.accept(source.ports(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`d${i}`, made]))))
    await sink.close()
  }
}

const sizeOf = (paths: readonly string[]) => paths.reduce((bytes, path) => bytes + statSync(path).size, 0)

test('beyond the bytes the oldest closed files leave, at the start and whenever one is closed', async (t) => {
  const dataRoot = temporaryFolder(t)
  await writeFiles(dataRoot, 10)
  const before = pathsBelow(dataRoot)
  const retentionBytes = Math.ceil(sizeOf(before.slice(5)) + 3000)
  const sink = openFiles(t, { dataRoot, retentionBytes, maxBytes: 4096 })
  const source = new BatchSource({ id: 'new' })
  sink.accept(source.ports({ a: 1 }))
  await until('files are removed', () => pathsBelow(dataRoot).length <= 6)
  assert.deepEqual(pathsBelow(dataRoot).slice(0, 5), before.slice(5))
  for (let i = 0; i < 2000; i++) sink.accept(source.ports({ [`d${i}`]: i, e: i }))
  await sink.close()
  const left = pathsBelow(dataRoot)
  assert.ok(sizeOf(left) <= retentionBytes, `${sizeOf(left)} of ${retentionBytes}`)
  assert.ok(left.length > 3)
  assert.ok(!left.includes(before[5] ?? ''))
  assert.equal(readFiles(dataRoot).at(-1)?.batches.at(-1)?.records.at(-1)?.rx_bytes_total, 1999n)
  assert.equal(sink.stats.errors, 0)
})

test('closed files leave at their age, and folders that are empty with them', async (t) => {
  const dataRoot = temporaryFolder(t)
  await writeFiles(dataRoot, 3)
  await writeFiles(dataRoot, 1, { nowUs: () => START_US + 5 * DAY_US })
  const sink = openFiles(t, { dataRoot, retentionDays: 3, nowUs: () => START_US + 6 * DAY_US })
  sink.accept(new BatchSource({ id: 'new' }).ports({ a: 1 }))
  await until('files are removed', () => pathsBelow(dataRoot).length === 2)
  await sink.close()
  assert.deepEqual(readdirSync(join(dataRoot, '2026')), ['0309', '0310'])
})

test('what others keep below the root is left alone', async (t) => {
  const dataRoot = temporaryFolder(t)
  await writeFiles(dataRoot, 2)
  const folder = dirname(pathsBelow(dataRoot)[0] ?? '')
  const theirs = [
    join(folder, 'notes.txt'),
    join(folder, `${START_US - 5}.bin`),
    join(folder, 'x1234.bin'),
    join(dataRoot, '2026', '0304', `${START_US}.bin`),
    join(dataRoot, 'other', '0304', 'a', `${START_US}.bin`),
    join(dataRoot, 'schema', 'schema_theirs.json'),
  ]
  for (const path of theirs) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'theirs '.repeat(100))
  }
  const sink = openFiles(t, { dataRoot, retentionBytes: 1, nowUs: () => START_US + DAY_US })
  sink.accept(new BatchSource({ id: 'new' }).ports({ a: 1 }))
  await sink.close()
  for (const path of theirs) assert.ok(existsSync(path), path)
  assert.ok(pathsBelow(dataRoot).every((path) => theirs.includes(path)))
})

test('a file that this or another living process writes to stays; one whose writer was killed goes', async (t) => {
  const dataRoot = temporaryFolder(t)
  const owner = spawn('sleep', ['600'])
  t.after(() => owner.kill())
  await writeFiles(dataRoot, 1, {}, 'other')
  const [closed = ''] = pathsBelow(dataRoot)
  const open = openFiles(t, { dataRoot })
  open.accept(new BatchSource({ id: 'own' }).ports({ a: 1 }))
  await open.flush()
  // As another process leaves it before its end: the block that says so is cut off, and the process id is that of one
  // that lives.
  const bytes = readFileSync(closed)
  const text = `"pid":${process.pid},`
  const living = `"pid":${owner.pid},`.padEnd(text.length, ' ')
  const theirs = join(dirname(closed), `${START_US + 1}.bin`)
  writeFileSync(
    theirs,
    withSource(bytes.subarray(0, bytes.length - 64), (source) => source.replace(text, living)),
  )
  const sink = openFiles(t, { dataRoot, retentionBytes: 1 })
  sink.accept(new BatchSource({ id: 'own' }).ports({ a: 2 }))
  await until('the closed file is removed', () => !existsSync(closed))
  await sink.flush()
  assert.ok(existsSync(theirs))
  assert.equal(readFiles(dataRoot).filter(({ source }) => source?.id === 'own').length, 2)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  await sink.close()
  const later = openFiles(t, { dataRoot, retentionBytes: 1 })
  later.accept(new BatchSource({ id: 'late' }).ports({ a: 3 }))
  await until('the file of the one that was killed is removed', () => !existsSync(theirs))
})

test('a sidecar leaves with the last file that refers to it, and never before', async (t) => {
  const dataRoot = temporaryFolder(t)
  await writeFiles(dataRoot, 3)
  const sidecars = () => readdirSync(join(dataRoot, 'schema')).filter((name) => name.endsWith('.json'))
  const [first = ''] = sidecars()
  const record = { time: wallNs(), lane: 3, drops_total: 7, device: 'new', rx_bytes_total: 2 }
  const path = pathsBelow(dataRoot)[1] ?? ''
  copyFileSync(path, join(dirname(path), `${START_US + 10 * DAY_US}.bin`))
  const clock = { nowUs: () => START_US + 10 * DAY_US }
  utimesSync(join(dataRoot, 'schema', first), START_US / 1e6, START_US / 1e6)
  const sink = openFiles(t, { dataRoot, retentionDays: 3, ...clock })
  sink.accept(new BatchSource({ id: 'new' }).batch(newPortType, [record]))
  await until('files are removed', () => pathsBelow(dataRoot).length === 2)
  await sink.close()
  assert.equal(sidecars().length, 2)
  const later = openFiles(t, { dataRoot, retentionDays: 3, nowUs: () => START_US + 14 * DAY_US })
  later.accept(new BatchSource({ id: 'new' }).batch(newPortType, [record]))
  await until('its sidecar is removed', () => !sidecars().includes(first))
  await later.close()
  assert.equal(sidecars().length, 1)
})

/** A file with another block of its source, of the same length. */
function withSource(bytes: Buffer, change: (text: string) => string): Buffer {
  const copy = Buffer.from(bytes)
  const at = 128 + ((copy.readUInt32LE(64 + 8) + 7) & ~7)
  const length = copy.readUInt32LE(at + 8)
  const payload = Buffer.from(change(copy.toString('utf8', at + 64, at + 64 + length)))
  copy.set(payload, at + 64)
  copy.writeUInt32LE(crc32(payload), at + 56)
  copy.writeUInt32LE(crc32(copy.subarray(at, at + 60)), at + 60)
  return copy
}
