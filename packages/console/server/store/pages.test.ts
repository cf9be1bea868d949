import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, type Source, sinkStats } from '@sonde/sdk'
import { ClientLosses } from '@sonde/sdk/internal'
import { countedType } from '../../test/counted-records.ts'
import { PageQueue } from './pages.ts'
import type { Announcement, StorePage } from './protocol.ts'

/** Number of sources of one client at a time. */
const SOURCE_COUNT = 1025
const TYPE_COUNT = 4096

/** A queue whose pages are written at once, and its announcements. */
class Announcing {
  readonly stats = sinkStats()
  readonly announced: Announcement[] = []
  readonly #queue = new PageQueue(64 << 20, this.stats, new ClientLosses())
  #sequence = 0n

  source(client: bigint | undefined, id: string): Source {
    const pageOf = () => (client === undefined ? {} : { page: { client, sequence: ++this.#sequence } })
    return createSource({ id, emit: (batch: Batch) => this.#queue.append({ ...batch, ...pageOf() }, Date.now()) })
  }

  report(source: Source): void {
    source.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'a label', number: 1 })
    source.flush()
    const sequence = this.#queue.post(1, Date.now(), ({ announcement }) => this.announced.push(announcement))
    this.#queue.acknowledge(sequence ?? 0)
  }

  /** Sources that were announced with their symbols, and sources that were forgotten. */
  take(): [writers: number, symbols: number, gone: number] {
    const count = (key: 'writers' | 'symbols' | 'gone') =>
      this.announced.reduce((sum, each) => sum + each[key].length, 0)
    const counts: [number, number, number] = [count('writers'), count('symbols'), count('gone')]
    this.announced.length = 0
    return counts
  }
}

test('all sources of a client are announced once, and sources without end cost those of others nothing', () => {
  const announcing = new Announcing()
  const own = announcing.source(undefined, 'own')
  const honest = announcing.source(1n, 'honest')
  const many = Array.from({ length: SOURCE_COUNT }, (_, i) => announcing.source(2n, `${i}`))
  const report = (sources: readonly Source[]) => {
    for (const source of sources) announcing.report(source)
    return announcing.take()
  }
  assert.deepEqual(report([own, honest, ...many]), [SOURCE_COUNT + 2, SOURCE_COUNT + 2, 0])
  assert.deepEqual(report([...many, ...many]), [0, 0, 0])
  // The client connects again and again, each time with new sources.
  for (let i = 0; i < 1000; i++) announcing.report(announcing.source(2n, `again ${i}`))
  const [, , gone] = announcing.take()
  assert.ok(gone > 700, `${gone} are forgotten`)
  assert.deepEqual(report([own, honest]), [0, 0, 0])
})

test('a page has a bounded number of batches, however short they are', () => {
  const queue = new PageQueue(64 << 20, sinkStats(), new ClientLosses())
  let sequence = 0n
  const accept = (batch: Batch) => queue.append({ ...batch, page: { client: 1n, sequence: ++sequence } }, Date.now())
  const source = createSource({ id: 'hasty', emit: accept })
  for (let number = 0; number < 5000; number++) {
    source.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'a label', number })
    source.flush()
  }
  const counts: number[] = []
  const post = () => queue.post(1, Date.now(), ({ page }) => counts.push(page.entries.length))
  for (let posted = post(); posted !== undefined; posted = post()) queue.acknowledge(posted, posted === 1 ? [1n] : [])
  // The first page is sent again, so its parts are shorter.
  assert.equal(Math.max(...counts), 1024)
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    5000 + 1024,
  )
})

test('clients leave places for types to each other and to this process', () => {
  const announcing = new Announcing()
  const bring = (client: bigint | undefined, from: number, count: number) => {
    const before = announcing.stats.dropped.get('type_limit') ?? 0
    const source = announcing.source(client, 'source')
    for (let i = from; i < from + count; i++) source.report(defineType(`t${i}`, '', { v: gauge('u8') }), { v: 1 })
    source.flush()
    return count - ((announcing.stats.dropped.get('type_limit') ?? 0) - before)
  }
  assert.equal(bring(1n, 0, 3000), TYPE_COUNT / 2)
  assert.equal(bring(2n, 3000, 600), TYPE_COUNT / 8)
  assert.equal(bring(3n, 4000, 600), TYPE_COUNT / 8)
  assert.equal(bring(4n, 5000, 10), 0)
  assert.equal(bring(undefined, 6000, 1000), 1000)
})

test('waiting records keep little more memory than their size, whatever was in the same page', () => {
  const queue = new PageQueue(64 << 20, sinkStats(), new ClientLosses())
  let sequence = 0n
  const of = (client: bigint) =>
    createSource({
      id: `${client}`,
      intervalMs: 0,
      emit: (batch) => queue.append({ ...batch, page: { client, sequence: ++sequence } }, Date.now()),
    })
  const record = { time: BigInt(Date.now()) * 1_000_000n, writer: 'a label', number: 0 }
  const [late, busy] = [of(1n), of(2n)]
  const memories = new Set<SharedArrayBuffer>()
  const send = ({ page }: { page: StorePage }) => {
    memories.add(page.memory)
    return page.entries
  }
  const write = (behind: readonly bigint[]) => {
    const posted = queue.post(1, Date.now(), send)
    if (posted !== undefined) queue.acknowledge(posted, behind)
    return posted
  }
  // Each record of the client that is behind lies among many records of another client.
  for (let round = 0; round < 50; round++) {
    late.report(countedType, record)
    late.flush()
    busy.report(countedType, new Array(2000).fill(record))
    busy.flush()
    write([1n])
    write([1n])
  }
  // Many short batches: a page reaches its batch limit before its memory is full.
  assert.equal(queue.records, 50)
  busy.report(countedType, new Array(100_000).fill(record))
  busy.flush()
  for (let i = 0; i < 10_000; i++) {
    late.report(countedType, record)
    late.flush()
  }
  const recordBytes = queue.records * countedType.layout.recordBytes
  assert.ok(queue.bytes > recordBytes + 10_000 * 200, 'a batch is more than its record')
  memories.clear()
  while (write([]) !== undefined);
  const memoryBytes = [...memories].reduce((sum, { byteLength }) => sum + byteLength, 0)
  assert.ok(memoryBytes < 2 * recordBytes + (4 << 20), `${memoryBytes} bytes of memory hold ${recordBytes}`)
})
