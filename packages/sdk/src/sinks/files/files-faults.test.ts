import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FILES_CHILD, killServices, killWriter } from '../../../test/files-killed.ts'
import { pathsBelow, readFiles, temporaryFolder, withEnding } from '../../../test/files-rig.ts'
import { property, sondeError, until } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { createFiles } from './files.ts'

interface Seen {
  readonly at: string
  readonly flush: string
  readonly in: number
  readonly out: number
  readonly dropped: Readonly<Record<string, number>>
  readonly failing: string
}

function numbersIn(root: string): number[] {
  return readFiles(join(root, 'data')).flatMap(({ batches }) =>
    batches.flatMap(({ type, records }) =>
      type.name === 'sonde_loss' ? [] : records.map((r) => Number(r.rx_bytes_total)),
    ),
  )
}

/** Records of `sonde_loss`: component, reason, total. */
function lossesIn(root: string): unknown[] {
  return readFiles(join(root, 'data')).flatMap(({ batches }) =>
    batches
      .filter(({ type }) => type.name === 'sonde_loss')
      .flatMap(({ records }) => records.map((r) => [r.component, r.reason, r.records_total])),
  )
}

/** Runs a scenario of the child behind a prefix of shell, and gives what it told. */
function runChild(shell: string, scenario: string, root: string): Map<string, Seen> {
  const script = `${shell} exec "$@"`
  const out = execFileSync('bash', ['-c', script, 'bash', ...FILES_CHILD, scenario, root], { encoding: 'utf8' })
  return new Map(out.split('\n').flatMap((line) => (line === '' ? [] : [[JSON.parse(line).at, JSON.parse(line)]])))
}

/** Runs a scenario on a small file system of its own; its files are copied to `copy` before that is gone. */
function runOnSmallDisk(scenario: string, root: string, copy: string): Map<string, Seen> {
  const mount = 'mount -t tmpfs -o size=400k tmpfs "$1" && shift'
  const script = `root="$1"; ${mount}; "$@" && cp -a "$root/data" "${copy}/data"`
  const out = execFileSync('unshare', ['-rm', 'bash', '-c', script, 'bash', root, ...FILES_CHILD, scenario, root], {
    encoding: 'utf8',
  })
  return new Map(out.split('\n').flatMap((line) => (line === '' ? [] : [[JSON.parse(line).at, JSON.parse(line)]])))
}

const folder = mkdtempSync(join(tmpdir(), 'sonde-mount-'))
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0
rmSync(folder, { recursive: true })
const skipMount = canMount ? false : 'user namespaces may not mount here'

test('a full disk: the process lives, drops are counted, flush rejects, nothing is torn, and the file tells', {
  skip: skipMount,
}, (t) => {
  const copy = temporaryFolder(t)
  const seen = runOnSmallDisk('diskFull', temporaryFolder(t), copy)
  const [room, full, again] = ['room', 'full', 'again'].map((at) => seen.get(at))
  assert.deepEqual([room?.flush, full?.flush, again?.flush], ['kept', 'FIL_LOST', 'kept'])
  const dropped = full?.dropped.disk_full ?? 0
  assert.ok(dropped > 0 && dropped <= 2000)
  assert.deepEqual([full?.in, full?.out, again?.out], [2010, 2010 - dropped, 2020 - dropped])
  assert.match(full?.failing ?? '', /ENOSPC/)
  const numbers = numbersIn(copy)
  assert.deepEqual([numbers.length, new Set(numbers).size], [2020 - dropped, 2020 - dropped])
  assert.deepEqual(
    numbers.slice(-10),
    Array.from({ length: 10 }, (_, i) => 5000 + i),
  )
  assert.deepEqual(
    lossesIn(copy).at(-1),
    ['files', 'disk_full', `${dropped}`].map((v, i) => (i === 2 ? BigInt(v) : v)),
  )
  for (const { end } of readFiles(join(copy, 'data')))
    assert.ok(end.state === 'ended' || end.state === 'open', end.state)
})

test('a file system that is read-only for a while: dropped as denied, and goes on afterwards', {
  skip: skipMount,
}, (t) => {
  const copy = temporaryFolder(t)
  const seen = runOnSmallDisk('readOnly', temporaryFolder(t), copy)
  assert.deepEqual(seen.get('readonly')?.dropped, { denied: 500 })
  assert.equal(seen.get('readonly')?.flush, 'FIL_LOST')
  assert.equal(seen.get('again')?.flush, 'kept')
  assert.deepEqual(
    numbersIn(copy).slice(10),
    Array.from({ length: 10 }, (_, i) => 5000 + i),
  )
  assert.deepEqual(lossesIn(copy), [['files', 'denied', 500n]])
})

test('a limit to the size of files that is below maxBytes: what no longer fits goes into a new file, whole', (t) => {
  const root = temporaryFolder(t)
  const seen = runChild('ulimit -f 64;', 'fileLimit', root)
  assert.equal(seen.get('limit')?.flush, 'kept')
  assert.deepEqual(seen.get('large')?.dropped, { disk_full: 4000 })
  assert.equal(seen.get('small')?.flush, 'kept')
  const numbers = numbersIn(root)
  assert.deepEqual(numbers, [
    ...Array.from({ length: 10_000 }, (_, i) => i),
    ...Array.from({ length: 10 }, (_, i) => 20_000 + i),
  ])
  for (const { bytes, end } of readFiles(join(root, 'data'))) {
    assert.ok(bytes <= 65_536)
    assert.notEqual(end.state, 'damaged')
  }
})

test('a root that may not be written to is no reason to end', (t) => {
  const root = temporaryFolder(t)
  // Root may write everywhere except in folders without write access for anyone.
  const isRoot = process.getuid?.() === 0
  const locked = isRoot ? '/sys' : join(root, 'locked')
  if (!isRoot) mkdirSync(locked, { mode: 0o500 })
  const seen = runChild('', 'denied', locked).get('denied')
  assert.deepEqual([seen?.flush, seen?.dropped, seen?.out], ['FIL_LOST', { denied: 30 }, 0])
  if (!isRoot) chmodSync(locked, 0o700)
})

test('a root in which nothing can be made is told at the flush', { skip: process.platform !== 'linux' }, async () => {
  const sink = createFiles({ dataRoot: '/proc/self/sonde/data' })
  sink.accept(new BatchSource().ports({ a: 1 }))
  await assert.rejects(sink.flush(), sondeError('FIL_LOST', /\/proc\/self\/sonde/))
  await sink.close()
})

test('a root that is a file, and a sidecar that cannot be written', async (t) => {
  const root = temporaryFolder(t)
  writeFileSync(join(root, 'file'), '')
  const blocked = createFiles({ dataRoot: join(root, 'file') })
  blocked.accept(new BatchSource().ports({ a: 1 }))
  await assert.rejects(blocked.flush(), sondeError('FIL_LOST', /ENOTDIR/))
  assert.deepEqual([...blocked.stats.dropped], [['failed', 1]])
  await blocked.close()
  writeFileSync(join(root, 'schema'), '')
  const sink = createFiles({ dataRoot: root })
  sink.accept(new BatchSource().ports({ a: 1 }))
  await sink.flush()
  await sink.close()
  assert.equal(pathsBelow(root).length, 1)
  assert.ok(sink.stats.errors > 0)
})

test('a file that somebody removes while it is written to: records go on in a new one', async (t) => {
  const root = temporaryFolder(t)
  let nowMs = 0
  const sink = createFiles({ dataRoot: root, nowMs: () => nowMs })
  t.after(() => sink.close())
  const source = new BatchSource()
  sink.accept(source.ports({ x: 1 }))
  await sink.flush()
  for (const path of pathsBelow(root)) rmSync(path)
  nowMs = 10_000
  await until('a new file is begun', async () => {
    sink.accept(source.ports({ x: 2 }))
    await sink.flush()
    return pathsBelow(root).length === 1
  })
})

test('a process that ends without closing has written what it was given, also while it ended', (t) => {
  const root = temporaryFolder(t)
  runChild('', 'exit', root)
  const numbers = numbersIn(root).sort((a, b) => a - b)
  const expected = [...Array.from({ length: 4000 }, (_, i) => i), ...Array.from({ length: 300 }, (_, i) => 20_000 + i)]
  assert.deepEqual(numbers, expected)
  for (const path of pathsBelow(join(root, 'data'))) assert.ok(statSync(path).size <= 16_384)
  assert.deepEqual([...new Set(readFiles(join(root, 'data')).map(({ end }) => end.state))], ['ended'])
})

property('whoever is killed at any moment has what was flushed, whole, once and in order', 4, (random) =>
  withEnding((t) => killWriter(temporaryFolder(t), random)),
)

property(
  'pages that are sent again to who comes after one that was killed are there once, and all of them',
  2,
  (random) => withEnding(async (t) => void (await killServices(temporaryFolder(t), random))),
)

test('files are written through no link that somebody planted below the root, and through one that is the root', async (t) => {
  const [root, elsewhere] = [temporaryFolder(t), temporaryFolder(t)]
  const year = join(root, String(new Date().getUTCFullYear()))
  const victim = join(elsewhere, 'victim')
  writeFileSync(victim, 'kept')
  symlinkSync(elsewhere, year)
  symlinkSync(elsewhere, join(root, 'schema'))
  const sink = createFiles({ dataRoot: root })
  sink.accept(new BatchSource().ports({ a: 1 }))
  await assert.rejects(sink.flush(), sondeError('FIL_LOST', /is a link, and files are not written through links/))
  await sink.close().catch(() => undefined)
  rmSync(year)
  const marking = createFiles({ dataRoot: root })
  for (const name of ['.pages-files', '.pages-files.new']) symlinkSync(victim, join(root, name))
  marking.accept({ ...new BatchSource().ports({ c: 1 }), page: { client: 1n, sequence: 1n } })
  await marking.flush()
  await marking.close()
  assert.deepEqual(readdirSync(elsewhere), ['victim'])
  assert.equal(readFileSync(victim, 'utf8'), 'kept')
  const link = join(elsewhere, 'root')
  symlinkSync(temporaryFolder(t), link)
  const own = createFiles({ dataRoot: link })
  own.accept(new BatchSource().ports({ a: 1 }))
  await own.flush()
  await own.close()
  assert.ok(pathsBelow(link).length > 0)
})
