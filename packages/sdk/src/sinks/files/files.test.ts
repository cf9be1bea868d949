import assert from 'node:assert/strict'
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import {
  type Ending,
  pathsBelow,
  type ReadFile,
  readFile,
  readFiles,
  temporaryFolder,
  withEnding,
} from '../../../test/files-rig.ts'
import { property, sondeError, until } from '../../../test/helper.ts'
import { BatchSource, newPortType, portType } from '../../../test/sink-records.ts'
import { wallNs } from '../../source/clock.ts'
import { createSource } from '../../source/source.ts'
import { schemaFingerprint } from '../../wire/dtb/encode.ts'
import type { FilesOptions } from './config.ts'
import { createFiles, type FilesSink } from './files.ts'
import { pathName } from './paths.ts'

/** 2026-03-04 05:06:07 UTC. */
const START_US = Date.UTC(2026, 2, 4, 5, 6, 7) * 1000

function openFiles(t: Ending, options: FilesOptions = {}): { sink: FilesSink; root: string } {
  const root = options.dataRoot ?? temporaryFolder(t)
  const sink = createFiles({ durability: 'none', ...options, dataRoot: root })
  t.after(() => sink.close())
  return { sink, root }
}

function numbersIn(files: readonly ReadFile[]): number[] {
  return files.flatMap(({ batches }) => batches.flatMap(({ records }) => records.map((r) => Number(r.rx_bytes_total))))
}

test('a file has header, types, source, then texts before their first use; the sidecar has its types', async (t) => {
  const { sink, root } = openFiles(t, { nowUs: () => START_US, schema: 'jobs', version: '1.2.3' })
  const source = new BatchSource({ id: 'host/1', tag: 'nic', labels: { rack: 'r1' } })
  sink.accept(source.ports({ eth0: 1, eth1: 2 }))
  await sink.flush()
  sink.accept(source.ports({ eth0: 3 }))
  sink.accept(source.ports({ eth2: 4 }))
  await sink.close()
  const [path = '', ...others] = pathsBelow(root)
  assert.deepEqual(others, [])
  assert.equal(relative(root, path), join('2026', '0304', 'host%2F1', `nic${START_US}.bin`))
  const file = readFile(path)
  assert.equal(file.end.state, 'ended')
  assert.deepEqual(numbersIn([file]), [1, 2, 3, 4])
  assert.deepEqual(
    { ...file.source, pid: 0, host: '' },
    {
      ...{ id: 'host/1', tag: 'nic', labels: { rack: 'r1' }, schema: 'jobs', host: '', pid: 0 },
      version: '1.2.3',
    },
  )
  assert.deepEqual(blockTypesOf(path), [1, 2, 4, 3, 3, 4, 3, 255])
  const fingerprint = schemaFingerprint([portType])
  assert.equal(file.fingerprint, fingerprint)
  assert.deepEqual(readdirSync(join(root, 'schema')), [`schema_${fingerprint}.json`])
  const sidecar = JSON.parse(readFileSync(join(root, 'schema', `schema_${fingerprint}.json`), 'utf8'))
  assert.deepEqual([sidecar.fingerprint, sidecar.types[0].definition.name], [fingerprint, 'conformance_port'])
})

test('a type that comes later is announced before its first use; the next file has only what it uses', async (t) => {
  let nowMs = 0
  const { sink, root } = openFiles(t, { maxAgeUs: 1_000_000, nowMs: () => nowMs })
  const source = new BatchSource()
  const later = { time: wallNs(), lane: 3, drops_total: 7, device: 'new', rx_bytes_total: 2 }
  sink.accept(source.ports({ a: 1 }))
  sink.accept(source.batch(newPortType, [later]))
  await sink.flush()
  nowMs = 1000
  sink.accept(source.ports({ a: 3 }))
  await sink.close()
  const files = readFiles(root)
  assert.deepEqual(numbersIn(files), [1, 2, 3])
  assert.deepEqual(blockTypesOf(files[0]?.path ?? ''), [1, 2, 4, 3, 1, 4, 3, 255])
  assert.deepEqual(blockTypesOf(files[1]?.path ?? ''), [1, 2, 4, 3, 255])
  assert.equal(files[1]?.fingerprint, schemaFingerprint([portType]))
  assert.equal(readdirSync(join(root, 'schema')).length, 1)
})

test('a file begins with the types of the schema, used or not', async (t) => {
  const { sink, root } = openFiles(t, { types: [newPortType] })
  sink.accept(new BatchSource().ports({ a: 1 }))
  await sink.close()
  assert.equal(readFiles(root)[0]?.fingerprint, schemaFingerprint([portType, newPortType]))
})

property('no file is larger than maxBytes, unless one block alone is; nothing is lost between files', 20, (random) =>
  withEnding(async (t) => {
    const maxBytes = random.integer(4096, 20_000)
    const { sink, root } = openFiles(t, { maxBytes })
    const source = new BatchSource()
    let number = 0
    for (let round = 0; round < 60; round++) {
      const count = random.integer(1, random.chance(0.1) ? 800 : 100)
      const entries = Array.from({ length: count }, () => [`d${random.integer(0, 40)} ${number}`, number++] as const)
      sink.accept(source.ports(Object.fromEntries(entries)))
      if (random.chance(0.25)) await sink.flush()
    }
    await sink.close()
    const files = readFiles(root)
    assert.deepEqual(
      numbersIn(files),
      Array.from({ length: number }, (_, i) => i),
    )
    for (const { bytes, batches, end } of files) {
      assert.ok(bytes <= maxBytes || batches.length === 1, `${bytes} bytes, ${batches.length} batches`)
      assert.equal(end.state, 'ended')
    }
  }),
)

test('a file is closed at its age by a clock that only rises, also where nothing is reported', async (t) => {
  let nowMs = 0
  const { sink, root } = openFiles(t, { maxAgeUs: 5_000_000, nowMs: () => nowMs })
  const source = new BatchSource()
  sink.accept(source.ports({ a: 1 }))
  await sink.flush()
  nowMs = 4999
  sink.accept(source.ports({ a: 2 }))
  await sink.flush()
  assert.deepEqual(
    readFiles(root).map(({ end }) => end.state),
    ['open'],
  )
  nowMs = 5000
  await until('the file is closed', () => readFiles(root)[0]?.end.state === 'ended')
  sink.accept(source.ports({ a: 3 }))
  await sink.close()
  assert.deepEqual(
    readFiles(root).map((file) => numbersIn([file])),
    [[1, 2], [3]],
  )
})

test('a wall clock that goes backwards or stands still never leads to a file that is there', async (t) => {
  let nowMs = 0
  let nowUs = START_US
  const { sink, root } = openFiles(t, { maxAgeUs: 1_000_000, nowMs: () => nowMs, nowUs: () => nowUs })
  const source = new BatchSource()
  for (const [i, stepUs] of [0, 0, -1, -1, 0, -86_400_000_000].entries()) {
    nowUs += stepUs
    sink.accept(source.ports({ a: i }))
    await sink.flush()
    nowMs += 1000
  }
  await sink.close()
  const numbers = new Map(readFiles(root).map((file) => [relative(root, file.path).slice(0, 9), numbersIn([file])]))
  assert.deepEqual(numbersIn(readFiles(root)).sort(), [0, 1, 2, 3, 4, 5])
  assert.deepEqual(numbers.get('2026/0303'), [5])
  assert.equal(pathsBelow(root).length, 6)
})

test('never writes to a file that was there before', async (t) => {
  const root = temporaryFolder(t)
  const folder = join(root, '2026', '0304', 'conformance')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${START_US}.bin`), 'theirs')
  const { sink } = openFiles(t, { dataRoot: root, nowUs: () => START_US })
  sink.accept(new BatchSource().ports({ a: 1 }))
  await sink.close()
  assert.equal(readFileSync(join(folder, `${START_US}.bin`), 'utf8'), 'theirs')
  assert.deepEqual(numbersIn([readFile(join(folder, `${START_US + 1}.bin`))]), [1])
})

test('names of users stay below the root, whatever they are, and two stay two', async (t) => {
  const root = join(temporaryFolder(t), 'inner')
  const { sink } = openFiles(t, { dataRoot: root })
  const names = [
    '../../../etc',
    '..',
    '.',
    '.hidden',
    'a..b',
    'a/b',
    '/abs',
    'new\nline',
    'nul\0',
    'ü',
    '%2F',
    '%',
    'x'.repeat(198),
  ]
  const long = [`${'ü'.repeat(99)}1`, `${'ü'.repeat(99)}2`]
  for (const name of [...names, ...long]) {
    sink.accept(new BatchSource({ id: name, tag: name }).ports({ a: 1 }))
  }
  await sink.close()
  assert.deepEqual(sink.stats.errors, 0)
  assert.deepEqual(readdirSync(dirname(root)), ['inner'])
  assert.deepEqual(globSync('**/*.bin', { cwd: dirname(root) }).length, names.length + long.length)
  assert.deepEqual(
    readFiles(root)
      .map(({ source }) => source?.id)
      .sort(),
    [...names, ...long].sort(),
  )
  for (const name of [...names, ...long]) {
    assert.match(pathName(name), /^(?!\.)(?!.*\.\.)[A-Za-z0-9._%-]{1,200}$/)
    assert.doesNotMatch(pathName(name), /%(?![0-9A-F]{2})/)
  }
})

test('has no more descriptors than it may, and goes on in the same files', async (t) => {
  const { sink, root } = openFiles(t, { openFilesMax: 2 })
  const sources = Array.from({ length: 6 }, (_, i) => new BatchSource({ id: `s${i}` }))
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (let round = 0; round < 5; round++) {
    for (const source of sources) {
      sink.accept(source.ports({ a: round }))
      await sink.flush()
    }
    await until('descriptors are closed', () => descriptors() <= before + 2)
  }
  await sink.close()
  const files = readFiles(root)
  assert.deepEqual(
    files.map((file) => numbersIn([file])),
    sources.map(() => [0, 1, 2, 3, 4]),
  )
})

test('closes the file of a source that says nothing any more', async (t) => {
  let nowMs = 0
  const { sink, root } = openFiles(t, { idleS: 10, nowMs: () => nowMs })
  sink.accept(new BatchSource({ id: 'often' }).ports({ a: 1 }))
  const seldom = createSource({ id: 'seldom', intervalMs: 20_000, emit: (batch) => sink.accept(batch) })
  seldom.report(portType, { time: wallNs(), device: 'a', rx_bytes_total: 2 })
  await seldom.flush()
  await sink.flush()
  nowMs = 10_000
  const states = () => new Map(readFiles(root).map(({ source, end }) => [source?.id, end.state]))
  await until('it is closed', () => states().get('often') === 'ended')
  assert.equal(states().get('seldom'), 'open')
})

test('hundreds of sources that fall silent at once are all closed', async (t) => {
  let nowMs = 0
  const { sink, root } = openFiles(t, { idleS: 10, nowMs: () => nowMs })
  for (let i = 0; i < 100; i++) sink.accept(new BatchSource({ id: `s${i}` }).ports({ a: i }))
  await sink.flush()
  nowMs = 10_000
  await until('all are closed', () => readFiles(root).every(({ end }) => end.state === 'ended'))
  assert.equal(pathsBelow(root).length, 100)
})

test('a source that brought nothing but what was dropped is told of in a file once it is silent', async (t) => {
  let nowMs = 0
  const { sink, root } = openFiles(t, { idleS: 10, nowMs: () => nowMs })
  sink.accept({ ...new BatchSource({ id: 'wrong' }).ports({ a: 1 }), count: 2 })
  nowMs = 10_000
  await until('it is told', () => lossesIn(readFiles(root)).length > 0)
  assert.deepEqual(lossesIn(readFiles(root)), [['files', 'wrong_size', 2n]])
})

test('what finds no room in memory is dropped and counted, flush says so, and the file tells', async (t) => {
  const { sink, root } = openFiles(t, { queueLimitBytes: 64 << 10 })
  const source = new BatchSource()
  const batch = source.ports(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`d${i}`, i])))
  for (let round = 0; round < 5; round++) sink.accept(batch)
  assert.equal(sink.stats.dropped.get('queue_full'), 4000)
  await assert.rejects(sink.flush(), sondeError('FIL_LOST', /4000 records/))
  await sink.flush()
  sink.accept(source.ports({ after: 7 }))
  await sink.close()
  assert.deepEqual(lossesIn(readFiles(root)), [['files', 'queue_full', 4000n]])
})

test('a large table of texts is not written into every file: only what records use', async (t) => {
  const { sink, root } = openFiles(t, { maxBytes: 16_384 })
  const source = new BatchSource()
  const name = (i: number) => `port number ${i} of a very large switch`
  for (let i = 0; i < 20_000; i += 500) {
    sink.accept(source.ports(Object.fromEntries(Array.from({ length: 500 }, (_, j) => [name(i + j), 0]))))
  }
  await sink.flush()
  const before = pathsBelow(root).length
  for (let round = 0; round < 40; round++) {
    sink.accept(source.ports(Object.fromEntries(Array.from({ length: 10 }, (_, j) => [name(j * 1900), round]))))
  }
  await sink.close()
  assert.ok(pathsBelow(root).length <= before + 3, `${pathsBelow(root).length - before} files for 400 records`)
  const last = readFiles(root).at(-1)?.batches.at(-1)
  assert.equal(last?.records.at(-1)?.device, name(9 * 1900))
})

test('an option out of range is refused', () => {
  const wrong: FilesOptions[] = [
    { maxBytes: 100 },
    { maxAgeUs: 0 },
    { retentionBytes: -1 },
    { openFilesMax: 0 },
    { dataRoot: '' },
  ]
  for (const options of wrong) assert.throws(() => createFiles(options), sondeError('FIL_OPTION', /allowed/))
  assert.throws(() => createFiles({ durability: 'never' as 'none' }), sondeError('FIL_OPTION', /none, interval, block/))
})

for (const durability of ['none', 'interval', 'block'] as const) {
  test(`with durability ${durability}, what was flushed is in the file, and many flushes at once settle`, async (t) => {
    const { sink, root } = openFiles(t, { durability, intervalMs: 10, maxBytes: 4096 })
    const source = new BatchSource()
    for (let i = 0; i < 100; i++) {
      sink.accept(source.ports({ a: i }))
      if (i % 10 === 9) {
        await Promise.all([sink.flush(), sink.flush()])
        assert.equal(numbersIn(readFiles(root)).length, i + 1)
      }
    }
    assert.deepEqual([sink.stats.out, sink.queuedRecords, sink.queuedBytes], [100, 0, 0])
  })
}

/** Records of `sonde_loss`: component, reason, total. */
function lossesIn(files: readonly ReadFile[]): unknown[] {
  return files.flatMap(({ batches }) =>
    batches
      .filter(({ type }) => type.name === 'sonde_loss')
      .flatMap(({ records }) => records.map((r) => [r.component, r.reason, r.records_total])),
  )
}

function blockTypesOf(path: string): number[] {
  const bytes = readFileSync(path)
  const types: number[] = []
  for (let at = 64; at < bytes.length; at += 64 + ((bytes.readUInt32LE(at + 8) + 7) & ~7))
    types.push(bytes[at + 4] ?? 0)
  return types
}

test('a file ends before its texts are more than a reader keeps', async (t) => {
  const { sink, root } = openFiles(t, { maxBytes: 2 ** 30 })
  const source = new BatchSource({ id: 'host' })
  const count = 20_000
  for (let i = 0; i < count; i += 1000) {
    const values = Object.fromEntries(
      Array.from({ length: 1000 }, (_, j) => [String(i + j).padStart(4000, 'x'), i + j + 1]),
    )
    sink.accept(source.ports(values))
    await sink.flush()
  }
  await sink.close()
  const files = readFiles(root)
  assert.equal(files.length, 2)
  assert.equal(numbersIn(files).length, count)
})
