// What must hold of any damaged file, and ways to damage one: for the tests here, and for `npm run faults -- dtb`.
import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { readRecord, SondeError, viewsOf } from '@sonde/sdk'
import { DtbDecoder, type DtbEnd } from '../../packages/sdk/src/wire/dtb/decode.ts'
import { dtbInput } from '../../packages/sdk/test/dtb-input.ts'
import type { SampleBlock, SampleFile } from '../../packages/sdk/test/dtb-sample.ts'
import type { Random } from '../../packages/sdk/test/random.ts'

/** What a decoder made of some bytes. */
interface Decoded {
  /** Places of the blocks that held. */
  readonly places: readonly number[]
  /** Bytes of records, a block each, with its place. */
  readonly records: ReadonlyMap<number, Uint8Array>
  readonly gaps: readonly { readonly at: number; readonly to: number }[]
  readonly end: DtbEnd
}

/** Reads bytes to their end, each record too. Fails where the decoder throws, goes back, or does not end. */
export function decode(bytes: Uint8Array, { salvage }: { readonly salvage: boolean }): Decoded {
  const decoder = new DtbDecoder(dtbInput(bytes), { salvage })
  const places: number[] = []
  const records = new Map<number, Uint8Array>()
  const gaps: { at: number; to: number }[] = []
  for (let last = -1; ; ) {
    const step = decoder.next()
    if (step.kind === 'stop') return { places, records, gaps, end: checkedEnd(step.end, bytes) }
    assert.ok(step.at > last, `it went back to ${step.at} from ${last}`)
    last = step.at
    if (step.kind === 'gap') {
      assert.ok(salvage && step.to > step.at, 'a gap without a length, or without being asked for')
      assert.ok(step.fault instanceof SondeError)
      gaps.push({ at: step.at, to: step.to })
      continue
    }
    places.push(step.at)
    if (step.kind !== 'records') continue
    const { type, symbols, count, bytes: payload } = step.batch
    const views = viewsOf(payload)
    for (let i = 0; i < count; i++) readRecord(type, views, i * type.layout.recordBytes, symbols)
    records.set(step.at, Uint8Array.from(payload))
  }
}

function checkedEnd(end: DtbEnd, bytes: Uint8Array): DtbEnd {
  assert.equal(end.at + end.ignoredBytes, bytes.length)
  const hasFault = end.state === 'truncated' || end.state === 'damaged'
  assert.equal(end.fault instanceof SondeError, hasFault)
  assert.ok(hasFault || end.ignoredBytes === 0, `${end.ignoredBytes} bytes are ignored without a reason`)
  return end
}

/** Every block before a place is read as it was written, and nothing that was not written is read. */
export function assertReadUpTo({ blocks }: SampleFile, { places, records }: Decoded, at: number): void {
  const [, ...all] = blocks
  const whole = all.filter((block) => block.end <= at)
  assert.deepEqual(
    places.slice(0, whole.length),
    whole.map((block) => block.at),
  )
  for (const block of whole) assertSameRecords(records.get(block.at), block)
}

function assertSameRecords(read: Uint8Array | undefined, { at, records }: SampleBlock): void {
  if (records === undefined) return
  assert.ok(read !== undefined, `the block at ${at} was not read`)
  assert.equal(Buffer.compare(read, records), 0, `the block at ${at} was read as another`)
}

/** A prefix holds up to its last whole block, and says how much it ignores. */
export function assertPrefixHolds(sample: SampleFile, length: number): void {
  const decoded = decode(sample.bytes.subarray(0, length), { salvage: false })
  assertReadUpTo(sample, decoded, length)
  const boundary = sample.blocks.findLast(({ end }) => end <= length)?.end ?? 0
  assert.equal(decoded.end.at, boundary)
  const state = decoded.end.state
  if (length === sample.bytes.length) assert.notEqual(state, 'truncated')
  else assert.equal(state, length === boundary && boundary > 0 ? 'open' : 'truncated')
}

/** With one byte changed, all before its block is read; the change is told; and salvage reads all records behind it. */
export function assertFlipHolds(sample: SampleFile, place: number, mask: number): void {
  const bytes = Uint8Array.from(sample.bytes)
  bytes[place] = (bytes[place] ?? 0) ^ mask
  const damaged = sample.blocks.find(({ end }) => place < end)
  assert.ok(damaged !== undefined)
  const stopped = decode(bytes, { salvage: false })
  assertReadUpTo(sample, stopped, damaged.at)
  assert.equal(stopped.end.at, damaged.at)
  assert.equal(stopped.end.state, 'damaged')
  const salvaged = decode(bytes, { salvage: true })
  const [gap] = salvaged.gaps
  assert.equal(gap?.at, damaged.at)
  assert.ok(salvaged.end.state === 'ended' || salvaged.end.state === 'open', salvaged.end.fault?.message)
  assertNothingMadeUp(sample, salvaged)
  // Without its types or texts a file does not read as it was written.
  if (damaged.records === undefined && damaged.at > 0) return
  for (const block of sample.blocks) {
    if (block !== damaged) assertSameRecords(salvaged.records.get(block.at), block)
  }
}

/** All records that came out were written so. */
export function assertNothingMadeUp({ blocks }: SampleFile, { records }: Decoded): void {
  const written = new Set(blocks.flatMap((block) => (block.records === undefined ? [] : [latin1Text(block.records)])))
  for (const payload of records.values()) assert.ok(written.has(latin1Text(payload)), 'records that nobody wrote')
}

/** Damage of any kind; gives the bytes that came of it. Checksums are wrong after it but by chance. */
export function damage(random: Random, { bytes }: SampleFile): Uint8Array {
  const kind = random.integer(0, 4)
  const from = random.integer(0, bytes.length)
  const to = Math.min(bytes.length, from + random.integer(0, random.pick([8, 100, 5000])))
  if (kind === 0) return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  if (kind === 1) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  if (kind === 2) return Buffer.concat([bytes.subarray(0, from), anyBytes(random, to - from), bytes.subarray(from)])
  const changed = Buffer.from(bytes)
  if (kind === 3) changed.fill(0, from, to)
  else changed.set(anyBytes(random, to - from), from)
  return changed
}

/** A block that lies: anything in it is changed, and its checksums are right. Gives where it begins. */
export function forge(
  random: Random,
  { bytes, blocks }: SampleFile,
): { readonly bytes: Uint8Array; readonly at: number } {
  const { at, end } = random.pick(blocks)
  const forged = Buffer.from(bytes)
  const payloadBytes = at === 0 ? 0 : end - at - 64
  for (let i = random.integer(1, 6); i > 0; i--) {
    const place =
      payloadBytes > 0 && random.chance(0.6) ? 64 + random.integer(0, payloadBytes - 1) : random.integer(0, 59)
    forged[at + place] = random.pick([0, 1, 0x22, 0x30, 0x5b, 0x7f, 0xff, random.integer(0, 255)])
  }
  if (at > 0) {
    const stored = Math.min(forged.readUInt32LE(at + 8), forged.length - at - 64)
    forged.writeUInt32LE(crc32(forged.subarray(at + 64, at + 64 + stored)), at + 56)
  }
  forged.writeUInt32LE(crc32(forged.subarray(at, at + 60)), at + 60)
  return { bytes: forged, at }
}

function anyBytes(random: Random, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.integer(0, 255))
}

function latin1Text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
