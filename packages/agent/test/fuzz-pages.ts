import { crc32 } from 'node:zlib'
import { createPrometheus, type RecordType } from '@sonde/sdk'
import { type ReadPage, SymbolTable, TextTable } from '@sonde/sdk/internal'
import { latestSeries } from '../src/pipeline/latest.ts'
import { RecentRing } from '../src/pipeline/recent.ts'
import { checkPage } from '../src/service/check-page.ts'

/** The random functions that these tests use. */
interface Dice {
  integer(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
  bits64(): bigint
}

const BYTES_MAX = 4096

/**
 * Gives the service pages of a type whose bytes are anything, and the views those that pass: garbage with the right
 * checksum is what a hostile client sends. Gives how many were taken. Whatever throws is a fault.
 */
export async function fuzzPages(dice: Dice, type: RecordType, pages: number): Promise<number> {
  const prometheus = createPrometheus({ seriesLimit: 200 })
  const recent = new RecentRing({ windowS: 60, limitBytes: 1 << 20 })
  const symbols = new SymbolTable()
  for (const text of ['a', 'b', 'x"\\\n']) symbols.id(text)
  const source = { id: 's', tag: 't', labels: { x: 'y' }, symbols }
  const target = Buffer.alloc(BYTES_MAX)
  let taken = 0
  for (let sequence = 1n; sequence <= pages; sequence++) {
    const page = anyPage(dice, type, sequence)
    const bytes = target.subarray(0, page.byteLength)
    if (checkPage(page, type, undefined, bytes) !== undefined) continue
    const { count, clock } = page
    const made = { origin: 'client', arrivedMs: performance.now(), page: { client: 1n, sequence } } as const
    const batch = { type, source, clock, count, bytes, symbols: new TextTable(symbols), ...made }
    for (const sink of [prometheus, recent]) sink.accept(batch)
    taken++
  }
  latestSeries(recent, { type: type.name })
  const scrape = await prometheus.render()
  scrape.release()
  return taken
}

function anyPage(dice: Dice, type: RecordType, sequence: bigint): ReadPage {
  const { recordBytes } = type.layout
  const count = dice.integer(1, Math.max(1, Math.min(4, Math.floor(BYTES_MAX / recordBytes))))
  const byteLength = Math.min(BYTES_MAX, count * recordBytes + (dice.chance(0.03) ? dice.integer(-1, 8) : 0))
  const bytes = anyBytes(dice, byteLength)
  if (type.time !== undefined && dice.chance(0.8)) makeTimely(bytes, type, count)
  return {
    sequence,
    source: 0,
    type: 0,
    clock: dice.pick(['wall', 'monotonic', 'device']),
    count: dice.chance(0.02) ? dice.integer(0, 0xffff_ffff) : count,
    byteLength,
    crc: dice.chance(0.02) ? dice.integer(0, 0xffff_ffff) : crc32(bytes),
    slot: dice.chance(0.02) ? dice.integer(0, 9) : undefined,
    bytes: dice.chance(0.02) ? undefined : bytes,
  }
}

function anyBytes(dice: Dice, length: number): Buffer {
  const bytes = Buffer.alloc(length, dice.pick([0, 1, 0xff]))
  if (dice.chance(0.7)) for (let at = 0; at + 8 <= length; at += 8) bytes.writeBigUInt64LE(dice.bits64(), at)
  return bytes
}

/** Puts the time of now into the records, without which hardly any would pass. */
function makeTimely(bytes: Buffer, { time, layout }: RecordType, count: number): void {
  const now = BigInt(Date.now()) * (time?.field.resolution === 'us' ? 1000n : 1_000_000n)
  for (let i = 0; i < count; i++) {
    const at = i * layout.recordBytes + (time?.offset ?? 0)
    if (at + 8 <= bytes.length) bytes.writeBigUInt64LE(now, at)
  }
}
