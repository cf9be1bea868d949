import assert from 'node:assert/strict'
import { lossType, wallNs } from '../src/index.ts'
import { absenceType, clockType, gapType, markType, periodType } from '../src/internal/index.ts'
import { HASTY } from './push-sink-cases.ts'
import { BatchSource, newPortType, ODD_RECORD, oddType, portType } from './sink-records.ts'
import { type Case, settled, type Tested } from './tested-sink.ts'

const U64_MAX = 2n ** 64n - 1n

/** What every sink passes. */
export const EVERY_SINK: readonly Case[] = [
  { title: 'shows every bit of a u64', run: checkExactness },
  { title: 'keeps a copy: bytes and Buffers that change after accept change nothing', run: checkCopy },
  { title: 'reads bytes that lie at any address', run: checkAddress },
  { title: 'tells sources apart whose symbols have the same numbers', run: checkSymbols },
  { title: 'shows no value where one is absent', run: checkAbsent },
  { title: 'keeps label values as they are', run: checkLabels },
  { title: 'takes a type that is redefined under its name', run: checkRedefined },
  { title: 'takes types that it has never seen, and those of Sonde itself', run: checkUnknown },
  { title: 'an empty batch is nothing', run: checkEmpty },
  { title: 'takes a huge batch, or says why not', run: checkHuge },
  { title: 'drops a batch whose bytes are not those of its records', run: checkWrongSize },
  { title: 'flushes with nothing to flush, and twice at once', run: checkFlush },
  { title: 'closes twice, and again at once, before it was given anything', run: checkCloseUnused },
  {
    title: 'closes with records, and counts what comes afterwards as dropped',
    // A slow machine has time to send them.
    limits: { ...HASTY, closeTimeoutMs: 30_000 },
    run: checkClosed,
  },
]

async function checkExactness(tested: Tested): Promise<void> {
  const values = { zero: 0n, one: 1n, odd: 2n ** 53n + 1n, high: 2n ** 63n, most: U64_MAX }
  const held = Object.fromEntries(Object.entries(values).map(([device, value]) => [device, tested.held(value)]))
  tested.accept(tested.source.ports(values))
  assert.deepEqual(await tested.shown(), held)
  tested.accept(tested.source.ports({ zero: U64_MAX, most: 0n }))
  assert.deepEqual(await tested.shown(), { ...held, zero: tested.held(U64_MAX), most: 0n })
  assert.equal(tested.dropped, 0)
}

async function checkCopy(tested: Tested): Promise<void> {
  const batch = tested.source.ports({ a: 1, b: 2 })
  tested.accept(batch)
  batch.bytes.fill(0xff)
  const other = tested.source.ports({ c: 3 })
  const buffer = Buffer.from(other.bytes)
  tested.accept({ ...other, bytes: buffer })
  buffer.fill(0xff)
  assert.deepEqual(await tested.shown(), { a: 1n, b: 2n, c: 3n })
}

async function checkAddress(tested: Tested): Promise<void> {
  for (const shift of [1, 4, 8]) {
    const batch = tested.source.ports({ [`at${shift}`]: U64_MAX })
    const bytes = new Uint8Array(batch.bytes.length + 16).fill(0xff)
    bytes.set(batch.bytes, shift)
    tested.accept({ ...batch, bytes: bytes.subarray(shift, shift + batch.bytes.length) })
  }
  const most = tested.held(U64_MAX)
  assert.deepEqual(await tested.shown(), { at1: most, at4: most, at8: most })
}

async function checkSymbols(tested: Tested): Promise<void> {
  const left = new BatchSource({ id: 'left' }).ports({ a: 1, b: 2 })
  const right = new BatchSource({ id: 'right' }).ports({ c: 3, d: 4 })
  for (const batch of [left, right, left]) tested.accept(batch)
  assert.deepEqual(await tested.shown(), { a: 1n, b: 2n, c: 3n, d: 4n })
}

async function checkAbsent(tested: Tested): Promise<void> {
  const time = wallNs()
  const records = [
    { time, device: 'without', rx_bytes_total: 1 },
    { time, device: 'with', rx_bytes_total: 1, speed_bytes_per_second: 0 },
  ]
  tested.accept(tested.source.batch(portType, records))
  assert.deepEqual(await tested.shown('speed_bytes_per_second'), { with: 0n })
  assert.deepEqual(await tested.shown(), { without: 1n, with: 1n })
}

async function checkLabels(tested: Tested): Promise<void> {
  const values = { 'a"b\\c\nd,e="f"}': 1n, 'ü ✓ 🛰': 2n, ' ': 3n, '{': 4n, [`${'x'.repeat(4000)}`]: 5n }
  tested.accept(tested.source.ports(values))
  assert.deepEqual(await tested.shown(), values)
}

async function checkRedefined(tested: Tested): Promise<void> {
  tested.accept(tested.source.ports({ old: 1 }))
  const record = { time: wallNs(), lane: 3, drops_total: 7, device: 'new', rx_bytes_total: 2 }
  tested.accept(tested.source.batch(newPortType, [record]))
  tested.accept(tested.source.ports({ old: 5 }))
  const [drops, received] = [
    await tested.shown('drops_total', newPortType),
    await tested.shown('rx_bytes_total', newPortType),
  ]
  assert.deepEqual([drops.new, received.new], [7n, 2n])
  assert.equal((await tested.shown()).old, 5n)
}

async function checkUnknown(tested: Tested): Promise<void> {
  const time = wallNs()
  tested.accept(tested.source.batch(oddType, [ODD_RECORD, { ...ODD_RECORD, wide: undefined }]))
  tested.accept(
    tested.source.batch(clockType, [
      {
        time,
        device: 'a',
        clock: '',
        device_ticks: U64_MAX,
        ticks_per_second: Infinity,
        before_ns: U64_MAX,
        after_ns: 0,
        offset_ns: -(2n ** 63n),
        error_ns: 0,
      },
    ]),
  )
  tested.accept(
    tested.source.batch(gapType, [
      { time, type: 'no_such', series: '', from_ns: U64_MAX, to_ns: 0, records: 0, reason: '' },
    ]),
  )
  tested.accept(tested.source.batch(periodType, [{ time, type: '?', device: '', report_us: U64_MAX }]))
  const words = { edge: 'neither', severity: '', unit: '\n', summary: '{{' }
  tested.accept(tested.source.batch(markType, [{ time, rule: '', device: '', event: U64_MAX, limit: NaN, ...words }]))
  tested.accept(tested.source.batch(lossType, [{ time, component: 'x', reason: 'y', records_total: 1 }]))
  tested.accept(
    tested.source.batch(absenceType, [{ time, type: '?', series: '{{', field: 'none', code: 'odd', reason: '\n' }]),
  )
  tested.accept(tested.source.ports({ a: 1 }))
  assert.deepEqual(await tested.shown(), { a: 1n })
}

async function checkEmpty(tested: Tested): Promise<void> {
  tested.accept(tested.source.ports({}))
  assert.deepEqual(await tested.shown(), {})
  tested.accept(tested.source.ports({ a: 1 }))
  tested.accept({ ...tested.source.ports({ a: 2 }), count: 0, bytes: new Uint8Array(0) })
  assert.deepEqual(await tested.shown(), { a: 1n })
  assert.deepEqual([tested.sink.stats.in, tested.dropped], [1, 0])
}

async function checkHuge(tested: Tested): Promise<void> {
  const time = wallNs()
  const records = Array.from({ length: 100_000 }, (_, i) => ({ time, device: `d${i % 50}`, rx_bytes_total: i }))
  tested.accept(tested.source.batch(portType, records))
  const shown = await tested.shown()
  if (tested.dropped > 0) return
  assert.deepEqual([Object.keys(shown).length, shown.d0, shown.d49], [50, 99_950n, 99_999n])
}

async function checkWrongSize(tested: Tested): Promise<void> {
  const batch = tested.source.ports({ a: 1, b: 2 })
  tested.accept({ ...batch, count: 3 })
  tested.accept({ ...batch, bytes: batch.bytes.subarray(8) })
  assert.equal(tested.dropped, 5)
  tested.accept(tested.source.ports({ c: 3 }))
  await settled(tested.sink.flush())
  assert.deepEqual(await tested.shown(), { c: 3n })
}

async function checkFlush(tested: Tested): Promise<void> {
  await tested.sink.flush()
  tested.accept(tested.source.ports({ a: 1 }))
  await Promise.all([tested.sink.flush(), tested.sink.flush()])
  assert.equal(tested.queued, 0)
  assert.equal(tested.sink.stats.out, 1)
}

async function checkCloseUnused(tested: Tested): Promise<void> {
  await Promise.all([tested.sink.close(), tested.sink.close()])
  await tested.sink.close()
}

async function checkClosed(tested: Tested): Promise<void> {
  tested.accept(tested.source.ports({ a: 1, b: 2 }))
  await tested.sink.close()
  tested.checkBalance()
  assert.deepEqual([tested.sink.stats.out, tested.queued], [2, 0])
  tested.accept(tested.source.ports({ a: 3 }))
  assert.equal(tested.dropped, 1)
  await settled(tested.sink.flush())
  await tested.sink.close()
}
