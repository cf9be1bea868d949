import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { DeviceRing, SAMPLE_AT } from './device-ring.ts'
import { openFileFeed } from './file-feed.ts'
import type { FeedRequest } from './sample-feed.ts'
import { writeSamples } from './test-samples.ts'

const IDS = [0x1020_0001_0000_0000n, 0x1140_0001_0000_0000n, 0xffff_ffff_ffff_ffffn]
const NEVER = new AbortController().signal

function fileOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-samples-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'samples')
}

function request(path: string, more: Partial<FeedRequest> = {}): FeedRequest {
  const wanted = { dataIds: IDS, samplePeriodNs: 100_000, bufferSamples: 1, forceOwnership: false, isExact: false }
  return { device: `file:${path}`, ...wanted, ...more }
}

/** Reads a file to its end. */
async function readAll(asked: FeedRequest, ring = new DeviceRing(asked.dataIds.length, 64)): Promise<DeviceRing> {
  const feed = await openFileFeed(asked)
  try {
    while ((await feed.read(ring, 7, NEVER)) !== 'end');
  } finally {
    await feed.close()
    await feed.close()
  }
  return ring
}

test('reads every bit that was written, in the order of the requested data IDs', async (t) => {
  const path = fileOf(t)
  const max = 2n ** 64n - 1n
  const rows = Array.from({ length: 50 }, (_, index) => [BigInt(index), max - BigInt(index), 2n ** 53n + BigInt(index)])
  writeSamples(path, rows, { dataIds: IDS, skippedBefore: { 3: 5 } })
  const ring = await readAll(request(path, { dataIds: [IDS[2] as bigint, IDS[0] as bigint] }))
  assert.equal(ring.total, 50)
  for (const [index, row] of rows.entries())
    assert.deepEqual([ring.valueText(index, 0), ring.valueText(index, 1)], [String(row[2]), String(row[0])])
  assert.equal(ring.big(4, SAMPLE_AT.time), 1_790_000_000_000_900_000n)
  assert.equal(ring.big(4, SAMPLE_AT.raw), (1_790_000_000n << 32n) | 900_000n)
  assert.deepEqual(
    [2, 3, 4].map((at) => ring.words[ring.wordAt(at) + SAMPLE_AT.flags]),
    [0, 1, 0],
  )
  assert.deepEqual(
    [2, 3, 4].map((at) => ring.words[ring.wordAt(at) + SAMPLE_AT.id]),
    [2, 8, 9],
  )
})

test('names the byte at which a last sample is cut off, behind all that are whole', async (t) => {
  const path = fileOf(t)
  writeSamples(path, [[1n], [2n], [3n]], { dataIds: IDS.slice(0, 1) })
  truncateSync(path, statSync(path).size - 1)
  const ring = new DeviceRing(1, 64)
  await assert.rejects(readAll(request(path, { dataIds: IDS.slice(0, 1) }), ring), {
    code: 'TRB_SAMPLES',
    message: /its last sample, at byte 168, is cut off after 47 bytes$/,
  })
  assert.equal(ring.total, 2)
})

test('refuses other files than files of samples, with the reason', async (t) => {
  const path = fileOf(t)
  const damaged: readonly [RegExp, (bytes: Buffer) => unknown][] = [
    [/does not begin with SONDESMP/, (bytes) => bytes.write('X', 0)],
    [/version 2; allowed: 1/, (bytes) => bytes.writeUInt32LE(2, 8)],
    [/0 values a sample; allowed: 1 to 1024/, (bytes) => bytes.writeUInt32LE(0, 12)],
    [/4294967295 values a sample/, (bytes) => bytes.writeUInt32LE(0xffff_ffff, 12)],
    [/it ends within its data IDs/, (bytes) => bytes.writeUInt32LE(1024, 12)],
    [/a sample period of 0 ns/, (bytes) => bytes.writeBigUInt64LE(0n, 16)],
    [/clock 2; allowed: 0 \(RTC\), 1 \(ticks\)/, (bytes) => bytes.writeUInt32LE(2, 24)],
    [/0 ticks a second/, (bytes) => bytes.writeUInt32LE(1, 24)],
    [/flags 1; allowed: 0/, (bytes) => bytes.writeUInt32LE(1, 28)],
    [/a data ID twice/, (bytes) => bytes.copy(bytes, 72, 64, 72)],
  ]
  for (const [message, damage] of damaged) {
    writeSamples(path, [[1n, 2n, 3n]], { dataIds: IDS })
    const bytes = readFileSync(path)
    damage(bytes)
    writeFileSync(path, bytes)
    await assert.rejects(readAll(request(path)), { code: 'TRB_SAMPLES', message })
  }
  await assert.rejects(readAll(request('/dev/zero')), /no regular file/)
  await assert.rejects(readAll(request(tmpdir())), { code: 'TRB_SAMPLES' })
})

test('answers any damage with samples or an error of its own', async (t) => {
  const path = fileOf(t)
  const random = new Random(SEED)
  writeSamples(path, Array(20).fill([1n, 2n, 3n]), { dataIds: IDS })
  const whole = readFileSync(path)
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from(whole.subarray(0, random.integer(0, whole.length)))
    for (let edits = random.integer(0, 4); edits > 0 && bytes.length > 0; edits--)
      bytes[random.integer(0, Math.min(120, bytes.length - 1))] = random.integer(0, 255)
    writeFileSync(path, bytes)
    if (random.chance(0.1)) appendFileSync(path, Buffer.alloc(random.integer(1, 100)))
    try {
      const ring = await readAll(request(path))
      assert.ok(ring.total <= 22)
    } catch (error) {
      assert.ok(error instanceof SondeError, String(error))
    }
  }
})
