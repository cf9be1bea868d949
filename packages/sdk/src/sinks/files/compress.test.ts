import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
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
import { deflateRawSync } from 'node:zlib'
import { type Ending, pathsBelow, readFile, readFiles, temporaryFolder, withEnding } from '../../../test/files-rig.ts'
import { property, until } from '../../../test/helper.ts'
import type { Random } from '../../../test/random.ts'
import { BatchSource, newPortType, ODD_RECORD, oddType } from '../../../test/sink-records.ts'
import { Disk, type DiskFile } from '../../disk/disk.ts'
import type { Batch } from '../../schema/batch.ts'
import { wallNs } from '../../source/clock.ts'
import { DtbDecoder } from '../../wire/dtb/decode.ts'
import { type DtbBlockHeader, decodeBlockHeader } from '../../wire/dtb/decode-header.ts'
import { encodeStoredBlock } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES, BLOCK_TYPE, FILE_HEADER_BYTES } from '../../wire/dtb/format.ts'
import { compressFile } from './compress-file.ts'
import type { FilesOptions } from './config.ts'
import { createFiles, type FilesSink } from './files.ts'
import { openDtb } from './open-dtb.ts'

const HOUR_MS = 3_600_000
const START_NS = 1_800_000_000_000_000_000n

function openFiles(t: Ending, dataRoot: string, options: FilesOptions = {}): FilesSink {
  const sink = createFiles({ durability: 'none', dataRoot, ...options })
  t.after(() => sink.close())
  return sink
}

function manyPorts(count: number, bytes: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, port) => [`port${port}`, bytes]))
}

/** Batches of several types, small and large, with texts that come on the way, and pages of a client. */
function mixedBatches(random: Random): Batch[] {
  const source = new BatchSource({ id: 'mixed' })
  const isPaged = random.chance(0.5)
  return Array.from({ length: random.integer(1, 100) }, (_, i) => {
    const batch = anyBatch(random, source, i)
    return isPaged && random.chance(0.5) ? { ...batch, page: { client: 5n, sequence: BigInt(i + 1) } } : batch
  })
}

function anyBatch(random: Random, source: BatchSource, i: number): Batch {
  const later = { time: wallNs(), lane: 3, drops_total: i, device: `lane${random.integer(0, 9)}`, rx_bytes_total: i }
  if (random.chance(0.2)) return source.batch(newPortType, [later])
  if (random.chance(0.2)) return source.batch(oddType, [ODD_RECORD, { ...ODD_RECORD, note: `note ${i}` }])
  return source.ports(manyPorts(random.integer(1, 20), i))
}

/** The bytes of the records of each type and clock in their order, and those of pages with their numbers. */
function contentsOf(path: string): object {
  const input = openDtb(path)
  const decoder = new DtbDecoder(input)
  const byType = new Map<string, Hash>()
  const pages: unknown[] = []
  for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    const { type, clock, bytes, page } = step.batch
    const key = `${type.fingerprint} ${clock}`
    const hash = byType.get(key) ?? createHash('sha256')
    byType.set(key, hash.update(bytes))
    if (page !== undefined) pages.push([page.client, page.sequence, createHash('sha256').update(bytes).digest('hex')])
  }
  input.close()
  const hashes = [...byType].map(([key, hash]) => `${key} ${hash.digest('hex')}`).sort()
  return { source: decoder.source, types: decoder.types, pages, hashes }
}

/** A closed file of batches that nothing compressed. */
async function plainFile(t: Ending, batches: readonly Batch[]): Promise<string> {
  const root = temporaryFolder(t)
  const sink = createFiles({ dataRoot: root, durability: 'none', maxBytes: 1 << 30 })
  for (const batch of batches) sink.accept(batch)
  await sink.close()
  return pathsBelow(root)[0] ?? ''
}

/** One disk for all, since each in use leaves a call to every other. */
const usualDisk = new Disk()
const compress = (path: string, disk = usualDisk) =>
  compressFile({ disk, path, draft: `${path}.draft`, signal: new AbortController().signal })

property('a compressed file has the same records of each type and page, in order', 10, (random) =>
  withEnding(async (t) => {
    const path = await plainFile(t, mixedBatches(random))
    const [before, beforeBytes] = [contentsOf(path), statSync(path).size]
    const bytes = (await compress(path)) ?? beforeBytes
    assert.deepEqual(contentsOf(path), before)
    assert.equal(bytes, statSync(path).size)
    assert.ok(bytes <= beforeBytes)
    const { end } = readFile(path)
    assert.deepEqual(end, { state: 'ended', at: bytes, ignoredBytes: 0 })
    assert.equal(await compress(path), undefined, 'a second time changes nothing')
    assert.deepEqual(readdirSync(dirname(path)).length, 1)
  }),
)

test('headers of merged blocks have the sum of the records and the span of their times', async (t) => {
  const source = new BatchSource()
  const ports = (atNs: bigint) =>
    source.batch(newPortType, [{ time: atNs, lane: 1, drops_total: 1, device: 'a', rx_bytes_total: 1 }])
  const path = await plainFile(t, [ports(START_NS + 7n), ports(START_NS + 3n), ports(START_NS + 5n)])
  await compress(path)
  const [records] = headersOf(path).filter(({ blockType }) => blockType === BLOCK_TYPE.records)
  assert.deepEqual([records?.count, records?.firstNs, records?.lastNs], [3, START_NS + 3n, START_NS + 7n])
})

function headersOf(path: string) {
  const bytes = readFileSync(path)
  const headers = []
  for (let at = FILE_HEADER_BYTES; at < bytes.byteLength; ) {
    const header = decodeBlockHeader(bytes.subarray(at))
    headers.push(header)
    at += BLOCK_HEADER_BYTES + ((header.storedBytes + 7) & ~7)
  }
  return headers
}

/** A disk of which one call fails. */
class FailingDisk extends Disk {
  readonly #files: DiskFile[] = []
  #left: number

  constructor(calls: number) {
    super()
    this.#left = calls
  }

  override async open(...args: Parameters<Disk['open']>): Promise<DiskFile> {
    const file = await super.open(...args)
    this.#files.push(file)
    return file
  }

  /** Closes the file whose own call to close failed. */
  async end(): Promise<void> {
    this.leave()
    this.#left = Number.POSITIVE_INFINITY
    for (const file of this.#files) await file.close()
  }

  override inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left-- === 0) return Promise.reject(Object.assign(new Error('the disk is gone'), { code: 'EIO' }))
    return super.inTurn(work)
  }
}

test('whatever call to the disk fails, the file has its records once', async (t) => {
  const source = new BatchSource()
  const batches = [40_000, 10, 3000, 10].map((count) => source.ports(manyPorts(count, 1)))
  const path = await plainFile(t, batches)
  const before = contentsOf(path)
  const original = `${path}.original`
  copyFileSync(path, original)
  const sizes = new Set<number>()
  let calls = 0
  for (let isDone = false; !isDone; calls++) {
    copyFileSync(original, path)
    const disk = new FailingDisk(calls)
    isDone = await compress(path, disk).then(
      () => true,
      ({ code }) => assert.equal(code, 'EIO') ?? false,
    )
    await disk.end()
    assert.deepEqual(contentsOf(path), before, `call ${calls}`)
    sizes.add(statSync(path).size)
  }
  assert.equal(sizes.size, 2, 'a file is as it was, or compressed')
  assert.deepEqual(readdirSync(dirname(path)).length, 2, 'a draft that could not be removed is written over')
  assert.ok(calls > 15, `${calls} calls`)
})

test('a file that is open, damaged, or of somebody else stays as it is', async (t) => {
  const path = await plainFile(t, [new BatchSource().ports(manyPorts(900, 1))])
  const bytes = readFileSync(path)
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8((flipped.at(2000) ?? 0) ^ 1, 2000)
  const end = bytes.subarray(-BLOCK_HEADER_BYTES)
  const [any] = headersOf(path)
  const bomb = encodeStoredBlock(
    { ...(any as DtbBlockHeader), isDeflated: true, unpackedBytes: 64 << 20 },
    deflateRawSync(Buffer.alloc(64 << 20)),
  )
  for (const content of [
    bytes.subarray(0, -BLOCK_HEADER_BYTES),
    flipped,
    Buffer.concat([bytes.subarray(0, -BLOCK_HEADER_BYTES), bomb, end]),
    Buffer.from('something else'),
    Buffer.alloc(0),
  ]) {
    writeFileSync(path, content)
    await compress(path).catch(({ code }) => assert.match(code, /^DTB_/))
    assert.deepEqual(readFileSync(path), content)
    assert.ok(!existsSync(`${path}.draft`))
  }
})

test('a sink compresses the files that it closes, and retention counts what is left', async (t) => {
  const root = temporaryFolder(t)
  let nowMs = 0
  const sink = openFiles(t, root, {
    compression: 'deflate',
    maxAgeUs: 1_000_000,
    nowMs: () => nowMs,
    retentionBytes: 80_000,
  })
  const source = new BatchSource()
  for (let file = 0; file < 8; file++, nowMs += 1000) {
    for (let i = 0; i < 100; i++) sink.accept(source.ports({ a: i, b: i, c: i }))
    await sink.flush()
    await until('the files before are compressed', () =>
      sizesOf(root)
        .slice(0, -1)
        .every((bytes) => bytes < 6000),
    )
  }
  await sink.close()
  assert.equal(pathsBelow(root).length, 8)
  assert.ok(
    sizesOf(root).every((bytes) => bytes < 6000),
    `${sizesOf(root)}`,
  )
  assert.equal(readFiles(root).flatMap(({ batches }) => batches.flatMap(({ records }) => records)).length, 8 * 300)
  assert.deepEqual([sink.stats.errors, sink.failing], [0, ''])
  assert.deepEqual(readdirSync(root).sort(), [new Date().getUTCFullYear().toString(), 'schema'])
})

const sizesOf = (root: string) => pathsBelow(root).map((path) => statSync(path).size)

test('the next sink compresses what the one before closed, and removes the draft of one that was killed', async (t) => {
  const root = temporaryFolder(t)
  const first = openFiles(t, root)
  const source = new BatchSource({ id: 'old' })
  for (let i = 0; i < 100; i++) first.accept(source.ports({ a: i, b: i, c: i }))
  await first.close()
  const draft = (name: string, ageMs: number) => {
    const path = join(root, `.sonde-compressing-${name}`)
    writeFileSync(path, 'half')
    utimesSync(path, new Date(), new Date(Date.now() - ageMs))
    return path
  }
  const [left, current] = [draft('1', 2 * HOUR_MS), draft('2', 0)]
  mkdirSync(join(root, '2026'), { recursive: true })
  const before = sizesOf(root).reduce((sum, bytes) => sum + bytes, 0)
  const second = openFiles(t, root, { compression: 'deflate' })
  second.accept(new BatchSource({ id: 'new' }).ports({ a: 1 }))
  await second.flush()
  await until('the old file is compressed', () => sizesOf(root).reduce((sum, bytes) => sum + bytes, 0) < before)
  assert.ok(!existsSync(left) && existsSync(current))
  await second.close()
  assert.deepEqual(
    readFiles(root).map(({ end }) => end.state),
    readFiles(root).map(() => 'ended'),
  )
})
