import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import {
  absenceType,
  type Batch,
  clockType,
  type DeliveryLimits,
  droppedTotal,
  gapType,
  lossType,
  markType,
  periodType,
  type RecordType,
  type Sink,
  SondeError,
  wallNs,
} from '../src/index.ts'
import { until } from './helper.ts'
import { BatchSource, newPortType, ODD_RECORD, oddType, portType } from './sink-records.ts'

/** What the far end of a push sink does: takes all, never answers, fails for now, refuses for good, or is not there. */
export type PeerBehaviour = 'takes' | 'hangs' | 'fails' | 'refuses' | 'gone'

/** A sink, and the eyes of whoever reads what it was given. */
export interface SinkUnderTest {
  readonly sink: Sink
  /** The newest value of a u64 field by the label `device`; nothing where it is absent. Asked after `flush`. */
  read(type: RecordType, field: string): ReadonlyMap<string, bigint> | Promise<ReadonlyMap<string, bigint>>
  /** Sets what the far end does from now on. Only push sinks have one. At first it takes all. */
  peer?(behaviour: PeerBehaviour): void | Promise<void>
}

/**
 * Makes a fresh sink; a push sink with the limits that are given. Clean up with `t.after`; the suite closes the sink
 * itself.
 */
export type OpenSink = (t: TestContext, limits: DeliveryLimits) => SinkUnderTest | Promise<SinkUnderTest>

/** Real time is real: limits under which a dead peer is noticed soon. */
const HASTY: DeliveryLimits = {
  lingerMs: 0,
  timeoutMs: 300,
  backoffInitialMs: 10,
  backoffMaxMs: 40,
  closeTimeoutMs: 400,
}
const SMALL: DeliveryLimits = { ...HASTY, queueLimitBytes: 65_536, batchBytesMax: 4096 }
const CLOSE_LIMIT_MS = 10_000
const U64_MAX = 2n ** 64n - 1n
const RX = 'rx_bytes_total'

/**
 * The cases that every sink passes. A *view* shows what it takes; a *push* sink sends it to a peer, and passes those of
 * a peer in trouble as well. A sink's own tests hold only what is special to it.
 *
 * @example
 * testSink('recent', 'view', () => {
 *   const sink = new RecentRing()
 *   return { sink, read: (type, field) => newestOf(sink.batches(type), type, field) }
 * })
 */
export function testSink(name: string, profile: 'view' | 'push', open: OpenSink): void {
  const cases = profile === 'push' ? [...EVERY_SINK, ...PUSH_SINKS] : EVERY_SINK
  describe(`every sink: ${name}`, () => {
    for (const { title, limits = HASTY, run } of cases) {
      test(title, async (t) => {
        const tested = new Tested(await open(t, limits))
        t.after(() => tested.sink.close())
        await run(tested)
        tested.checkBalance()
      })
    }
  })
}

interface Case {
  readonly title: string
  readonly limits?: DeliveryLimits
  readonly run: (tested: Tested) => Promise<void>
}

const EVERY_SINK: readonly Case[] = [
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
  { title: 'closes with records, and counts what comes afterwards as dropped', run: checkClosed },
]

const PUSH_SINKS: readonly Case[] = [
  { title: 'a peer that never answers holds nobody up, and gets everything once it does', run: checkHanging },
  { title: 'a peer that fails for a while gets everything', run: (tested) => checkTrouble(tested, 'fails') },
  { title: 'a peer that is gone for a while gets everything', run: (tested) => checkTrouble(tested, 'gone') },
  { title: 'what the peer refuses is dropped, and what follows is not', run: checkRefused },
  { title: 'a full queue drops, and counts', limits: SMALL, run: checkFull },
  { title: 'closes with a full queue before a peer that hangs', limits: SMALL, run: (t) => checkCloseFull(t, 'hangs') },
  { title: 'closes with a full queue before a peer that fails', limits: SMALL, run: (t) => checkCloseFull(t, 'fails') },
  {
    title: 'closes with a full queue before a peer that is gone',
    limits: SMALL,
    run: (t) => checkCloseFull(t, 'gone'),
  },
]

/** A sink and how its accounts are checked. */
class Tested {
  readonly sink: Sink
  readonly source = new BatchSource()
  readonly #given: SinkUnderTest
  /** Records given to it. */
  #acceptedRecords = 0

  constructor(given: SinkUnderTest) {
    this.sink = given.sink
    this.#given = given
    assert.match(given.sink.name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  }

  get queued(): number {
    return 'queuedRecords' in this.sink ? Number(this.sink.queuedRecords) : 0
  }

  get dropped(): number {
    return droppedTotal(this.sink.stats)
  }

  accept(batch: Batch): void {
    this.sink.accept(batch)
    this.#acceptedRecords += batch.count
    assert.equal(this.sink.stats.in, this.#acceptedRecords, 'every record given to accept counts as in')
  }

  async shown(field: string = RX, type: RecordType = portType): Promise<Record<string, bigint>> {
    await this.sink.flush()
    this.checkBalance()
    return Object.fromEntries(await this.#given.read(type, field))
  }

  async peer(behaviour: PeerBehaviour): Promise<void> {
    assert.ok(this.#given.peer, 'a push sink has a peer')
    await this.#given.peer(behaviour)
  }

  checkBalance(): void {
    const { stats } = this.sink
    assert.equal(stats.in, stats.out + this.dropped + this.queued, 'in = out + dropped + queued')
    assert.ok(stats.seconds >= 0)
    for (const [reason, records] of stats.dropped) {
      assert.match(reason, /^[a-z]+(_[a-z]+)*$/)
      assert.ok(records > 0, `${reason} counts nothing`)
    }
  }
}

async function checkExactness(tested: Tested): Promise<void> {
  const values = { zero: 0n, one: 1n, odd: 2n ** 53n + 1n, high: 2n ** 63n, most: U64_MAX }
  tested.accept(tested.source.ports(values))
  assert.deepEqual(await tested.shown(), values)
  tested.accept(tested.source.ports({ zero: U64_MAX, most: 0n }))
  assert.deepEqual(await tested.shown(), { ...values, zero: U64_MAX, most: 0n })
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
  assert.deepEqual(await tested.shown(), { at1: U64_MAX, at4: U64_MAX, at8: U64_MAX })
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
    { time, device: 'with', rx_bytes_total: 1, speed_bytes: 0 },
  ]
  tested.accept(tested.source.batch(portType, records))
  assert.deepEqual(await tested.shown('speed_bytes'), { with: 0n })
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
  const [drops, received] = [await tested.shown('drops_total', newPortType), await tested.shown(RX, newPortType)]
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

async function checkHanging(tested: Tested): Promise<void> {
  await tested.peer('hangs')
  for (let n = 0; n < 50; n++) tested.accept(tested.source.ports({ [`d${n}`]: n }))
  tested.checkBalance()
  assert.deepEqual([tested.sink.stats.out, tested.queued], [0, 50])
  await until('an attempt is given up', () => tested.sink.stats.errors > 0)
  await tested.peer('takes')
  const shown = await tested.shown()
  assert.deepEqual([Object.keys(shown).length, shown.d49, tested.dropped], [50, 49n, 0])
}

async function checkTrouble(tested: Tested, trouble: PeerBehaviour): Promise<void> {
  tested.accept(tested.source.ports({ before: 1 }))
  await tested.sink.flush()
  await tested.peer(trouble)
  tested.accept(tested.source.ports({ during: 2 }))
  await until('several attempts have failed', () => tested.sink.stats.errors >= 3)
  tested.checkBalance()
  assert.equal(tested.queued, 1)
  await tested.peer('takes')
  tested.accept(tested.source.ports({ after: 3 }))
  assert.deepEqual(await tested.shown(), { before: 1n, during: 2n, after: 3n })
}

async function checkRefused(tested: Tested): Promise<void> {
  await tested.peer('refuses')
  tested.accept(tested.source.ports({ a: 1, b: 2 }))
  await assert.rejects(tested.sink.flush(), SondeError)
  assert.equal(tested.dropped, 2)
  await tested.peer('takes')
  tested.accept(tested.source.ports({ c: 3 }))
  assert.deepEqual(await tested.shown(), { c: 3n })
}

async function checkFull(tested: Tested): Promise<void> {
  await fill(tested, 'hangs')
  assert.ok(tested.queued > 0)
  await tested.peer('takes')
  await settled(tested.sink.flush())
  assert.equal(tested.sink.stats.out + tested.dropped, tested.sink.stats.in)
  tested.accept(tested.source.ports({ last: 1 }))
  assert.equal((await tested.shown()).last, 1n)
}

async function checkCloseFull(tested: Tested, trouble: PeerBehaviour): Promise<void> {
  await fill(tested, trouble)
  const { out } = tested.sink.stats
  const before = tested.queued
  const closed = tested.sink.close()
  const limit = AbortSignal.timeout(CLOSE_LIMIT_MS)
  await Promise.race([closed, new Promise((_, reject) => limit.addEventListener('abort', () => reject(limit.reason)))])
  assert.deepEqual([tested.queued, tested.sink.stats.out], [0, out])
  assert.ok(before > 0 && tested.dropped >= before)
}

/** Gives it records until it has dropped some. */
async function fill(tested: Tested, behaviour: PeerBehaviour): Promise<void> {
  await tested.peer(behaviour)
  for (let n = 0; tested.dropped === 0; n++) {
    assert.ok(n < 10_000, 'the queue has a limit')
    tested.accept(tested.source.ports({ a: n, b: n, c: n }))
  }
  tested.checkBalance()
}

/** What it settles to is another case's: here it only must settle, and reject with nothing but an error of Sonde. */
async function settled(flush: Promise<void>): Promise<void> {
  await flush.catch((error: unknown) => assert.ok(error instanceof SondeError, String(error)))
}
