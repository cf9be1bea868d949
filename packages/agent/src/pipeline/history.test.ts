import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, defineType, gauge, SondeError, timestamp, wallNs } from '@sonde/sdk'
import type { History, HistoryStatus, QueryRequest } from '@sonde/sdk/internal'
import { BackedHistory } from './history.ts'
import { RecentRing } from './recent.ts'

const type = defineType('backed', 'Records of this test', { time: timestamp(), level: gauge('f64') })
const WRITING: HistoryStatus = {
  state: 'writing',
  reason: '',
  bytes: 0,
  oldestMs: null,
  ackedMs: 0,
  queuedBytes: 0,
  errors: 0,
  corruptChunks: 0,
  backlogBytes: 0,
}
const FAILING: HistoryStatus = { ...WRITING, state: 'failing', reason: 'the disk is full' }

/** A ring that holds one sample of now, and a question about the last minute. */
function rigOf(): { recent: RecentRing; request: QueryRequest } {
  const recent = new RecentRing()
  const source = createSource({ id: 'test', intervalMs: 1000, emit: (batch) => recent.accept(batch) })
  source.report(type, { time: wallNs(), level: 7 })
  source.flush()
  const toMs = Date.now() + 1000
  const query = { metric: 'backed_level', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
  return { recent, request: { fromMs: toMs - 60_000, toMs, stepMs: 1000, queries: [query] } }
}

function storeThat(query: History['query']): History & { asked: number } {
  const store = {
    asked: 0,
    query(request: QueryRequest) {
      store.asked++
      return query(request)
    },
  }
  return store
}

test('a store that writes is asked', async () => {
  const { recent, request } = rigOf()
  const store = storeThat(async (asked) => recent.queryNow({ ...asked, queries: [] }))
  assert.deepEqual((await new BackedHistory(store, recent, () => WRITING).query(request)).results, [])
})

test('while the store fails the last minutes come from memory, and what is older from the store', async () => {
  const { recent, request } = rigOf()
  const store = storeThat(async (asked) => recent.queryNow({ ...asked, queries: [] }))
  const history = new BackedHistory(store, recent, () => FAILING)
  const [result] = (await history.query(request)).results
  assert.ok(result?.series[0]?.values.includes(7))
  assert.equal(store.asked, 0)
  await history.query({ ...request, fromMs: request.toMs - 3_600_000, stepMs: 60_000 })
  assert.equal(store.asked, 1)
})

test('a store that cannot answer does not leave a question without one', async () => {
  const { recent, request } = rigOf()
  const store = storeThat(() => Promise.reject(new SondeError('STO_UNAVAILABLE', 'no file')))
  const [result] = (await new BackedHistory(store, recent, () => WRITING).query(request)).results
  assert.ok(result?.series[0]?.values.includes(7))
})

test('a question that is wrong stays wrong', async () => {
  const { recent, request } = rigOf()
  const store = storeThat(() => Promise.reject(new SondeError('QRY_SERIES_LIMIT', 'too many')))
  await assert.rejects(new BackedHistory(store, recent, () => WRITING).query(request), { code: 'QRY_SERIES_LIMIT' })
})
