import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, label, labelNumber, sinkStats, timestamp } from '@sonde/sdk'
import { ClientLosses, type QueryRequest } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { Counting, countedType, numbersIn, upTo } from '../../test/counted-records.ts'
import { openStore } from '../../test/open-store.ts'
import { advance } from '../../test/simulated-clock.ts'
import { storeSettings } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import { PageQueue } from './pages.ts'
import type { FileStatus, FromWorker, ToWorker } from './protocol.ts'
import { StoreWorker } from './worker/store-worker.ts'

const HOUR_MS = 3_600_000

function requestOf(metric: string, window: Omit<QueryRequest, 'queries'>): QueryRequest {
  return { ...window, queries: [{ metric, function: 'last', matchers: [], by: undefined, aggregate: 'sum' }] }
}

/** A question for all counted records. */
function wholeRequest(): QueryRequest {
  return requestOf('counted_number', { fromMs: 0, toMs: Date.now() + HOUR_MS, stepMs: 365 * 24 * HOUR_MS })
}

test('what is reported while many questions wait is written after one of them, not after all', async () => {
  const { store, close } = await openStore()
  try {
    const counting = new Counting(store)
    counting.report(20_000)
    await store.flush()
    let answered = 0
    const questions = Array.from({ length: 20 }, () =>
      store.query(wholeRequest()).then(() => {
        answered++
      }),
    )
    counting.report(10)
    await store.flush()
    assert.ok(answered <= 2, `${answered} questions were answered first`)
    await Promise.all(questions)
    assert.deepEqual(await numbersIn(store), upTo(20_010))
  } finally {
    await close()
  }
})

test('a page that comes in the middle of a question is written before its answer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-turns-'))
  const pages: ToWorker[] = []
  const queue = new PageQueue(1 << 20, sinkStats(), new ClientLosses())
  const source = createSource({ id: 'test', emit: (batch) => queue.append(batch, Date.now()) })
  const report = (number: number) => {
    source.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'test', number })
    source.flush()
    queue.post(10, Date.now(), (next) => pages.push({ kind: 'page', opening: 1, ...next }))
  }
  const sent: FromWorker['kind'][] = []
  const settings = storeSettings({ path: join(folder, 'store.db') })
  const worker = new StoreWorker(
    { settings, session: 'test', whenLocked: 'refuse' },
    ({ kind }) => sent.push(kind),
    () => pages.shift(),
  )
  try {
    worker.start()
    report(0)
    worker.receive(pages.shift() as ToWorker)
    report(1)
    sent.length = 0
    worker.receive({ kind: 'query', id: 0, request: wholeRequest() })
    assert.deepEqual(sent, ['acked', 'answer'])
    pages.push({ kind: 'records', id: 2, request: { type: 'counted', fromMs: 0, toMs: Number.MAX_VALUE } })
    report(2)
    sent.length = 0
    worker.receive({ kind: 'query', id: 1, request: wholeRequest() })
    assert.deepEqual(sent, ['acked', 'answer', 'answer'], 'another question waits for its turn')
  } finally {
    worker.receive({ kind: 'close' })
    rmSync(folder, { recursive: true })
  }
})

test('between any 256 series that are looked through for a question, pages have a turn', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-turns-'))
  const queue = new PageQueue(1 << 22, sinkStats(), new ClientLosses())
  const type = defineType('wide', 'Many series', { time: timestamp(), number: label(), level: gauge('i32') })
  const source = createSource({ id: 'wide', bufferBytes: 1 << 20, emit: (batch) => queue.append(batch, Date.now()) })
  const sent: FromWorker[] = []
  let turns = 0
  const settings = storeSettings({ path: join(folder, 'store.db') })
  const worker = new StoreWorker(
    { settings, session: 'test', whenLocked: 'refuse' },
    (message) => sent.push(message),
    () => {
      turns++
      return undefined
    },
  )
  const seriesCount = 2048
  try {
    worker.start()
    for (let number = 0; number < seriesCount; number++)
      source.report(type, { time: BigInt(Date.now()) * 1_000_000n, number: `${number}`, level: number })
    source.flush()
    queue.post(10, Date.now(), (next) => worker.receive({ kind: 'page', opening: 1, ...next }))
    const { fromMs, toMs, stepMs } = wholeRequest()
    const queries = Array.from({ length: 64 }, (_, i): QueryRequest['queries'][number] => {
      const matchers = [{ label: 'number', op: '=', value: `none ${i}` }] as const
      return { metric: 'wide_level', function: 'last', matchers, by: undefined, aggregate: 'sum' }
    })
    worker.receive({ kind: 'query', id: 0, request: { fromMs, toMs, stepMs, queries } })
    assert.equal(sent.at(-1)?.kind, 'answer')
    assert.ok(turns >= (64 * seriesCount) / 256, `${turns} turns`)
    turns = 0
    const same = queries.map((query) => ({ ...query, matchers: queries[0]?.matchers ?? [] }))
    worker.receive({ kind: 'query', id: 1, request: { fromMs, toMs, stepMs, queries: same } })
    assert.ok(turns < 200, `${turns} turns: questions with the same matchers share a walk`)
  } finally {
    worker.receive({ kind: 'close' })
    rmSync(folder, { recursive: true })
  }
})

test('clients take turns with their questions, and questions of a client that left are dropped', async () => {
  const { store, close } = await openStore()
  try {
    const order: string[] = []
    const left = new Set<string>()
    const ask = (host: string, connection: string) => {
      const asker = { host, connection, isGone: () => left.has(connection) }
      return store.query(wholeRequest(), asker).then(
        () => order.push(`${host}${connection}`),
        ({ code }) => order.push(`${host}${connection} ${code}`),
      )
    }
    const asked = [
      ask('a', '1'),
      ask('a', '1'),
      ask('a', '1'),
      ask('a', '2'),
      ask('a', '3'),
      ask('b', '4'),
      ask('b', '4'),
    ]
    left.add('3')
    await Promise.all(asked)
    assert.deepEqual(order, ['a1', 'a1', 'b4', 'a2', 'b4', 'a3 QRY_BUSY', 'a1'])
  } finally {
    await close()
  }
})

test('a thread that ended before it said which client is behind loses nothing of that client, and stores nothing twice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-turns-'))
  const settings = storeSettings({ path: join(folder, 'store.db') })
  const queue = new PageQueue(1 << 20, sinkStats(), new ClientLosses())
  const type = defineType('many', 'A record a series', { number: labelNumber('u32'), level: gauge('u32') })
  let sequence = 0n
  const emit = (batch: Batch) => queue.append({ ...batch, page: { client: 1n, sequence: ++sequence } }, Date.now())
  const source = createSource({ id: 'flood', emit })
  const own = createSource({ id: 'own', emit: (batch) => queue.append(batch, Date.now()) })
  const rows = Array.from({ length: 3000 }, (_, number) => ({ number, level: 1 }))
  /** A thread that writes this many pages, without a report of the last one. */
  const run = (pageCount: number) => {
    const told: FromWorker[] = []
    const start = { settings, session: 'test', whenLocked: 'refuse' } as const
    const worker = new StoreWorker(start, (message) => told.push(message))
    worker.start()
    for (const message of told) if (message.kind === 'opened') queue.restart(message.sequence)
    for (let page = 1; page <= pageCount; page++) {
      queue.post(2, Date.now(), (next) => worker.receive({ kind: 'page', opening: 1, ...next }))
      const acked = told.findLast((message) => message.kind === 'acked')
      if (acked !== undefined && page < pageCount) queue.acknowledge(acked.sequence, acked.behind)
    }
    worker.receive({ kind: 'close' })
  }
  try {
    source.report(type, rows)
    own.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'own', number: 0 })
    source.flush()
    own.flush()
    for (let pageCount = 1; pageCount <= 4; pageCount++) run(pageCount)
    run(100)
    assert.equal(queue.records, 0)
    const database = new DatabaseSync(settings.path, { readOnly: true })
    const stored = database.prepare('SELECT sum(count) AS count FROM head').get()
    database.close()
    assert.equal(stored?.count, 3001)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('while pages keep coming, upkeep and status go on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-turns-'))
  const queue = new PageQueue(1 << 20, sinkStats(), new ClientLosses())
  const source = createSource({ id: 'test', emit: (batch) => queue.append(batch, Date.now()) })
  const statuses: FileStatus[] = []
  const settings = storeSettings({ path: join(folder, 'store.db') })
  const worker = new StoreWorker({ settings, session: 'test', whenLocked: 'refuse' }, (message) => {
    if (message.kind === 'status') statuses.push(message.status)
    if (message.kind === 'acked') queue.acknowledge(message.sequence)
  })
  const oldMs = Date.now() - 3 * HOUR_MS
  try {
    worker.start()
    // No timer gets a turn: the pages of half a minute are sent without a pause.
    for (let number = 0; number < 60; number++) {
      source.report(countedType, { time: BigInt(oldMs + number) * 1_000_000n, writer: 'test', number })
      source.flush()
      let message: ToWorker | undefined
      queue.post(1, Date.now(), (next) => {
        message = { kind: 'page', opening: 1, ...next }
      })
      if (message !== undefined) worker.receive(message)
      advance(500)
    }
    assert.ok(statuses.length > 20, `${statuses.length} times its status`)
    const compacted = statuses.findIndex(({ backlogBytes }, i) => backlogBytes < (statuses[i - 1]?.backlogBytes ?? 0))
    assert.ok(compacted > 0, 'something was compacted')
  } finally {
    worker.receive({ kind: 'close' })
    rmSync(folder, { recursive: true })
  }
})

test('a request that is sure to ask for too many values is refused before it is read', async () => {
  const { store, path, close } = await openStore()
  try {
    const type = defineType('wide', 'Many series', { time: timestamp(), number: label(), level: gauge('i32') })
    const source = createSource({ id: 'wide', emit: (batch) => store.accept(batch) })
    const startMs = (Math.floor(Date.now() / HOUR_MS) - 3) * HOUR_MS
    for (let number = 0; number < 1000; number++) {
      source.report(type, { time: BigInt(startMs + 1000) * 1_000_000n, number: `${number}`, level: number })
    }
    source.flush()
    await store.flush()
    await store.maintain()
    // Shortly after midnight the day of the records is over, and the next upkeep rolls up the records that are
    // compacted now.
    await store.maintain()
    const outside = new DatabaseSync(path)
    outside.exec('UPDATE chunk SET body = randomblob(length(body))')
    outside.close()
    const request = requestOf('wide_level', { fromMs: startMs, toMs: startMs + HOUR_MS, stepMs: 1000 })
    await assert.rejects(store.query(request), { code: 'QRY_COST_LIMIT' })
    await store.maintain()
    assert.equal(store.status().corruptChunks, 0, 'no chunk was read')
    await store.query({ ...request, stepMs: 10_000 })
    await store.maintain()
    assert.ok(store.status().corruptChunks > 0, 'a smaller request reads them')
  } finally {
    await close()
  }
})

test('a disk that hangs is told, questions do not wait for ever, and all is written when it goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-hang-'))
  const path = join(folder, 'store.db')
  const worker = new URL('../../test/hanging-worker-main.ts', import.meta.url)
  const limits = { stallLimitMs: 200, queryLimitMs: 300, flushIntervalMs: 10 }
  const store = new EmbeddedStore(storeSettings({ path, ...limits }), worker)
  try {
    await store.opened
    const counting = new Counting(store)
    counting.report(10)
    await store.flush()
    assert.equal(store.status().state, 'writing')
    writeFileSync(`${path}.hang`, '')
    counting.report(10)
    await until('the stall is seen', () => store.status().state === 'failing')
    const { reason } = store.status()
    assert.match(reason, /nothing was written to .* since [-\d]{10}T[:\d]{8}Z; look whether its disk hangs/)
    assert.deepEqual([store.status().errors, store.stats.errors], [1, 1])
    const refused = { code: 'STO_TIMEOUT', message: /waited 0\.3 s/ }
    await Promise.all([
      assert.rejects(store.query(wholeRequest()), refused),
      assert.rejects(store.query(wholeRequest()), refused),
    ])
    assert.equal(store.status().reason, reason, 'the log says it once')
    rmSync(`${path}.hang`)
    await store.flush()
    assert.equal(store.status().state, 'writing')
    assert.equal(store.status().reason, '')
    assert.deepEqual(await numbersIn(store), upTo(20))
  } finally {
    rmSync(`${path}.hang`, { force: true })
    await store.close()
    rmSync(folder, { recursive: true })
  }
})
