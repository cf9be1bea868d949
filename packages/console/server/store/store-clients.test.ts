import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type Batch,
  createSource,
  defineType,
  gauge,
  label,
  labelNumber,
  type RecordType,
  readRecords,
  type SourceInfo,
  viewsOf,
} from '@sonde/sdk'
import { SYMBOLS_OF_SOURCE } from '@sonde/sdk/internal'
import { property, until } from '../../../sdk/test/helper.ts'
import { countedType, numbersIn, upTo } from '../../test/counted-records.ts'
import { openStore } from '../../test/open-store.ts'
import { createStore, type Store } from './store.ts'

const CHILD = fileURLToPath(new URL('../../test/store-client-child.ts', import.meta.url))
/** More than a client may look up in ten pages. */
const SERIES_COUNT = 25_000

const longType = defineType('long', 'A series with long labels', {
  text: label(),
  number: labelNumber('u32'),
  level: gauge('u32'),
})
const seriesType = defineType('many', 'A record a series', { number: labelNumber('u32'), level: gauge('u32') })

const CLIENT = 0xfeed_0000_0000_0001n

/** Sends pages of one record each to a store; each record has the sequence of its page as number. */
function sendPages(store: Store, client: bigint, sequences: readonly number[]): void {
  let sequence = 0n
  const emit = (batch: Batch) => store.accept({ ...batch, page: { client, sequence } })
  const source = createSource({ id: 'client', intervalMs: 0, emit })
  for (const number of sequences) {
    sequence = BigInt(number)
    source.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'child', number })
    source.flush()
  }
}

test('a page that is sent again is stored once, and counted as a duplicate and not as a loss', async () => {
  const { store, close } = await openStore()
  try {
    sendPages(store, CLIENT, [1, 2, 3, 2, 3, 4])
    await store.flush()
    sendPages(store, CLIENT, [1, 4, 5])
    await store.flush()
    assert.deepEqual(await numbersIn(store), [1, 2, 3, 4, 5])
    assert.equal(store.stats.duplicates, 4)
    assert.equal(store.stats.out, 9)
    assert.deepEqual([...store.stats.dropped], [])
    assert.equal(await store.lastPage?.(CLIENT), 5n)
  } finally {
    await close()
  }
})

test('what was dropped of a client is told once, also where later pages were stored', async () => {
  const { store, close } = await openStore({ seriesLimit: 1, queueLimitBytes: 1 << 20 })
  let sequence = 0n
  const emit = (batch: Batch) => store.accept({ ...batch, page: { client: CLIENT, sequence: ++sequence } })
  const source = createSource({ id: 'client', intervalMs: 0, emit })
  const send = (writers: readonly string[]) => {
    const time = BigInt(Date.now()) * 1_000_000n
    source.report(
      countedType,
      writers.map((writer, number) => ({ time, writer, number })),
    )
    source.flush()
  }
  try {
    send(['known', 'other', 'another'])
    send(['known'])
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    const lostUpTo = (client: bigint, page: bigint) => [...(store.takeLost?.(client, page) ?? [])]
    assert.deepEqual([lostUpTo(1n, 2n), lostUpTo(CLIENT, 2n), lostUpTo(CLIENT, 2n)], [[], [[1n, 2]], []])
    // The worker gets no turn, so the queue takes no more than its limit.
    for (let i = 0; i < 100; i++) send(new Array(1000).fill('known'))
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    const dropped = store.stats.dropped.get('queue_full') ?? 0
    assert.ok(dropped > 0)
    const earlier = lostUpTo(CLIENT, 50n)
    const lost = [...earlier, ...lostUpTo(CLIENT, sequence)]
    assert.ok(earlier.every(([page]) => page <= 50n))
    assert.equal(
      lost.reduce((sum, [, records]) => sum + records, 0),
      dropped,
    )
  } finally {
    await close()
  }
})

/** Sends records of this many series to a store, in one page of a client, or of this process if it is undefined. */
function sendSeries(store: Store, client: bigint | undefined, { from = 0, count = 1, sequence = 1n }): void {
  const emit = (batch: Batch) => {
    const page = client === undefined ? {} : { page: { client, sequence: sequence++ } }
    store.accept({ ...batch, ...page })
  }
  const source = createSource({ id: `client${client}`, intervalMs: 0, emit })
  source.report(
    seriesType,
    Array.from({ length: count }, (_, i) => ({ number: from + i, level: i })),
  )
  source.flush()
}

test('a client that brings many new series waits by itself: others are acknowledged before, and all is stored once', async () => {
  const { store, close } = await openStore({ closeLimitMs: 0 })
  const [flood, honest] = [1n, 2n]
  const order: string[] = []
  const flush = async (client: bigint, name: string) => {
    await store.flushClient?.(client)
    order.push(name)
  }
  try {
    sendSeries(store, flood, { count: SERIES_COUNT })
    const flooded = flush(flood, 'flood')
    for (const name of ['first', 'second', 'third']) {
      sendSeries(store, honest, { sequence: BigInt(order.length + 1) })
      await flush(honest, name)
    }
    assert.deepEqual(order, ['first', 'second', 'third'])
    assert.deepEqual([await store.lastPage?.(honest), await store.lastPage?.(flood)], [3n, 0n])
    assert.equal(store.status().names.clientsBehind, 1)
    assert.match(store.status().reason, /^1 client brings more new series .* wait for the processor/)
    await flooded
    assert.equal(store.stats.out, SERIES_COUNT + 3)
    assert.deepEqual([[...store.stats.dropped], store.stats.duplicates], [[], 0])
    assert.equal(store.status().reason, '')
    sendSeries(store, flood, { from: SERIES_COUNT, count: SERIES_COUNT, sequence: 1000n })
    sendSeries(store, honest, { sequence: 4n })
    await flush(honest, 'fourth')
    await store.close()
    const { records, reason } = store.unwritten ?? {}
    assert.deepEqual([records, store.stats.dropped.get('closed')], [SERIES_COUNT, SERIES_COUNT])
    assert.match(reason ?? '', /^1 client brings more new series/)
  } finally {
    await close()
  }
})

test('one client leaves places for series to other clients and to this process, and is told what was refused', async () => {
  const { store, path, close } = await openStore({ seriesLimit: 800 })
  const refused = (from: Store, client: bigint) => {
    const pages = [...(from.takeLost?.(client, 99n) ?? [])]
    return pages.reduce((sum, [, records]) => sum + records, 0)
  }
  try {
    sendSeries(store, 1n, { count: 1000 })
    sendSeries(store, 2n, { from: 1000, count: 300 })
    sendSeries(store, undefined, { from: 2000, count: 300 })
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    assert.deepEqual([refused(store, 1n), refused(store, 2n), store.stats.out], [600, 200, 800])
    assert.deepEqual([...store.stats.dropped], [['series_limit', 800]])
    await store.close()
    const again = await createStore({ path, seriesLimit: 1600 })
    try {
      // Until they report, the names in the file count as those of a client.
      sendSeries(again, undefined, { from: 2000, count: 300 })
      sendSeries(again, 1n, { count: 1000, sequence: 50n })
      await assert.rejects(again.flush(), { code: 'STO_LOST' })
      assert.equal(refused(again, 1n), 300)
    } finally {
      await again.close()
    }
  } finally {
    await close()
  }
})

/** Reports series with long labels, as {@link sendSeries} does. */
function sendLongSeries(store: Store, client: bigint | undefined, count: number, characters: number): void {
  const page = client === undefined ? {} : { page: { client, sequence: 1n } }
  const source = createSource({ id: 'long', intervalMs: 0, emit: (batch) => store.accept({ ...batch, ...page }) })
  const text = 'x'.repeat(characters)
  source.report(
    longType,
    Array.from({ length: count }, (_, number) => ({ number, text, level: 1 })),
  )
  source.flush()
}

/** Reports the same series from a source, each with a long unique label. */
function sendLabels(store: Store, client: bigint, { source: number = 0, count = 1, characters = 1 }): void {
  const page = { client, sequence: BigInt(number + 1) }
  const source = createSource({
    id: `source${number}`,
    intervalMs: 0,
    emit: (batch) => store.accept({ ...batch, page }),
  })
  source.report(
    longType,
    Array.from({ length: count }, (_, i) => ({ number: 0, text: `${i}`.padEnd(characters, 'x'), level: 1 })),
  )
  source.flush()
}

test('series with long labels take the places and the turns of several, also when the file is opened again', async () => {
  const { store, path, close } = await openStore({ seriesLimit: 1600 })
  const refused = (from: Store, client: bigint) =>
    [...(from.takeLost?.(client, 99n) ?? [])].reduce((sum, [, records]) => sum + records, 0)
  try {
    // Four places each: 700 exceed the lookups of a client in a page, and 200 are half of all places.
    sendLongSeries(store, 1n, 700, 900)
    sendSeries(store, 2n, {})
    await store.flushClient?.(2n)
    assert.deepEqual([await store.lastPage?.(1n), await store.lastPage?.(2n)], [0n, 1n])
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    assert.equal(refused(store, 1n), 500)
    await store.close()
    const again = await createStore({ path, seriesLimit: 1600 })
    try {
      sendLongSeries(again, 3n, 10, 899)
      sendSeries(again, 3n, { count: 200, sequence: 2n })
      await assert.rejects(again.flush(), { code: 'STO_LOST' })
      assert.equal(refused(again, 3n), 40)
    } finally {
      await again.close()
    }
  } finally {
    await close()
  }
})

test('series of a client push no records of others out, also where the file is made for fewer', async () => {
  const maxBytes = 4 << 20
  const { store, path, close } = await openStore({ maxBytes })
  try {
    const own = createSource({ id: 'own', emit: (batch) => store.accept(batch) })
    const time = BigInt(Date.now()) * 1_000_000n
    own.report(
      countedType,
      upTo(1000).map((number) => ({ time, writer: 'own', number })),
    )
    own.flush()
    await store.flush()
    sendLongSeries(store, 1n, 3000, 1000)
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    await store.maintain()
    assert.deepEqual(await numbersIn(store), upTo(1000))
    assert.equal(store.status().reason, '')
    // Each source stores the labels of its series once more.
    for (let i = 0; i < 100; i++) sendLabels(store, 2n, { source: i, count: 20, characters: 4000 })
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    await store.maintain()
    assert.deepEqual(await numbersIn(store), upTo(1000))
    assert.equal(store.status().reason, '')
    await store.close()
    const large = await createStore({ path })
    sendLongSeries(large, undefined, 3000, 1000)
    await large.flush()
    await large.close()
    const again = await createStore({ path, maxBytes })
    try {
      await again.maintain()
      assert.deepEqual(await numbersIn(again), upTo(1000))
      assert.match(
        again.status().reason,
        /^labels of series and sources take \d+ MiB of 4: .*raise it, or report fewer/,
      )
    } finally {
      await again.close()
    }
  } finally {
    await close()
  }
})

test('a type for which one client has no room is stored for another, and for this process', async () => {
  const { store, path, close } = await openStore()
  const typesOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => defineType(`type${from + i}`, '', { level: gauge('u8') }))
  let sequence = 0n
  const send = (to: Store, client: bigint | undefined, types: readonly RecordType[]) => {
    const page = () => (client === undefined ? {} : { page: { client, sequence: ++sequence } })
    const source = createSource({ id: `of ${client}`, emit: (batch) => to.accept({ ...batch, ...page() }) })
    for (const type of types) source.report(type, { level: 1 } as never)
    source.flush()
  }
  const shared = defineType('shared', '', { level: gauge('u8') })
  const other = defineType('other', '', { level: gauge('u8') })
  try {
    send(store, 1n, typesOf(0, 2048))
    await store.flush()
    await store.close()
    // The names in the file count as those of clients: each has an eighth.
    const again = await createStore({ path, flushIntervalMs: 20 })
    try {
      send(again, 2n, typesOf(3000, 512))
      await again.flush()
      send(again, 2n, [shared, other])
      await assert.rejects(again.flush(), { code: 'STO_LOST' })
      send(again, 3n, [shared])
      send(again, undefined, [other])
      await again.flush()
      send(again, 2n, [shared, other])
      await again.flush()
      assert.deepEqual([...again.stats.dropped], [['type_limit', 2]])
    } finally {
      await again.close()
    }
  } finally {
    await close()
  }
})

test('labels that no record uses are not written, and a client that left is forgotten', async () => {
  const { store, path, close } = await openStore()
  let isKept = false
  let reporting: SourceInfo | undefined
  const emit = (batch: Batch) => {
    if (!isKept) return
    store.accept({ ...batch, page: { client: CLIENT, sequence: 1n } })
    reporting = batch.source
  }
  const source = createSource({ id: 'client', intervalMs: 0, emit })
  const record = (writer: string) => ({ time: BigInt(Date.now()) * 1_000_000n, writer, number: 1 })
  const rowCount = () => {
    const database = new DatabaseSync(path, { readOnly: true })
    const row = database.prepare('SELECT count(*) AS count FROM symbol').get()
    database.close()
    return Number(row?.count)
  }
  try {
    for (let i = 0; i < 1000; i++) source.report(countedType, record(`a label ${i}`))
    source.flush()
    isKept = true
    source.report(countedType, record('the last label'))
    source.flush()
    await store.flush()
    assert.ok(rowCount() <= SYMBOLS_OF_SOURCE + 1, `${rowCount()} labels are stored`)
    const read = await store.records({ type: 'counted', fromMs: 0, toMs: Number.MAX_VALUE })
    assert.deepEqual(
      read.flatMap(({ type, bytes, count, symbols }) =>
        [...readRecords(type, viewsOf(bytes), count, symbols)].map(({ writer }) => writer),
      ),
      ['the last label'],
    )
    assert.equal(store.status().names.reportingSources, 1)
    store.retire?.(reporting as unknown as SourceInfo)
    assert.equal(store.status().names.reportingSources, 0)
  } finally {
    await close()
  }
})

test('clients are distinguished, also by ids of all 64 bits', async () => {
  const { store, path, close } = await openStore()
  const clients = [1n, 0x7fff_ffff_ffff_ffffn, 0x8000_0000_0000_0000n, 0xffff_ffff_ffff_ffffn]
  try {
    for (const client of clients) sendPages(store, client, [1, 2])
    await store.close()
    const again = await createStore({ path })
    try {
      assert.deepEqual(await Promise.all(clients.map((client) => again.lastPage?.(client))), [2n, 2n, 2n, 2n])
      assert.equal(await again.lastPage?.(2n), 0n)
      sendPages(again, 1n, [2, 3])
      await again.flush()
      assert.equal((await numbersIn(again)).length, 9)
    } finally {
      await again.close()
    }
  } finally {
    await close()
  }
})

test('a client that was silent for a week is forgotten, and one of today is not', async () => {
  const { store, path, close } = await openStore()
  try {
    sendPages(store, 1n, [1])
    sendPages(store, 2n, [1])
    await store.close()
    const database = new DatabaseSync(path)
    const old = Date.now() - 8 * 86_400_000
    database.prepare("UPDATE meta SET value = ? WHERE key = 'client 0000000000000001'").run(`1 ${old}`)
    database.close()
    const again = await createStore({ path })
    assert.equal(await again.lastPage?.(1n), 1n)
    await again.maintain()
    await again.close()
    const third = await createStore({ path })
    try {
      assert.deepEqual(await Promise.all([third.lastPage?.(1n), third.lastPage?.(2n)]), [0n, 1n])
    } finally {
      await third.close()
    }
  } finally {
    await close()
  }
})

property(
  'whoever is killed while clients send finds each of their pages once, also when they send again',
  1,
  async (random) => {
    const folder = mkdtempSync(join(tmpdir(), 'sonde-kill-'))
    const path = join(folder, 'store.db')
    try {
      let kept = 0
      for (let round = 0; round < 4; round++) {
        const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
        const child = spawn(process.execPath, [...flags, CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] })
        let acked = 0
        let last = -1
        createInterface({ input: child.stdout }).on('line', (line) => {
          const [word, value] = line.split(' ')
          if (word === 'open') last = Number(value)
          else acked = Number(value)
        })
        const enough = kept + random.integer(1, 150)
        try {
          await until('the child writes', () => acked >= enough || child.exitCode !== null, 20_000)
        } finally {
          child.kill('SIGKILL')
          await once(child, 'close')
        }
        assert.equal(last, kept, 'it was told what was kept before')
        const store = await createStore({ path })
        try {
          const pages = Number(await store.lastPage?.(CLIENT))
          assert.ok(pages >= acked, `${pages} pages, and ${acked} was acknowledged`)
          assert.deepEqual(await numbersIn(store), upTo(pages * 10), 'each record of these pages, once')
          kept = pages
        } finally {
          await store.close()
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
