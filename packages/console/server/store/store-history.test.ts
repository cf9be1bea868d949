import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, createSource, defineType, label, timestamp } from '@sonde/sdk'
import { testHistory } from '../../../sdk/test/test-history.ts'
import { openStore } from '../../test/open-store.ts'

testHistory('the head of the store', async () => {
  const { store, close } = await openStore()
  return { history: store, accept: (batch) => store.accept(batch), settle: () => store.flush(), close }
})

testHistory('the chunks of the store', async () => {
  const { store, close } = await openStore()
  const settle = async () => {
    await store.flush()
    await store.maintain()
  }
  return { history: store, accept: (batch) => store.accept(batch), settle, close }
})

test('records of a day that come after the next one was rolled up are counted once', async () => {
  const HOUR_MS = 3_600_000
  const midnightMs = Math.floor(Date.now() / (24 * HOUR_MS) - 2) * 24 * HOUR_MS
  const type = defineType('work', 'Work done', { time: timestamp(), who: label(), work_total: counter('u64') })
  const { store, close } = await openStore()
  try {
    const source = createSource({ id: 'node', intervalMs: 60_000, emit: (batch) => store.accept(batch) })
    const report = (fromMinute: number, toMinute: number) => {
      for (let minute = fromMinute; minute < toMinute; minute++) {
        const time = BigInt(midnightMs + minute * 60_000 + 1000) * 1_000_000n
        source.report(type, { time, who: 'a', work_total: 1_000_000 + minute * 100 })
      }
      source.flush()
    }
    const settle = async () => {
      await store.flush()
      // The first upkeep compacts, the second rolls up, and a third follows if that changed the next day.
      for (let round = 0; round < 3; round++) await store.maintain()
    }
    report(-120, -2)
    report(0, 120)
    await settle()
    report(-2, 0)
    await settle()
    const query = {
      metric: 'work_work_total',
      function: 'increase',
      matchers: [],
      by: undefined,
      aggregate: 'sum',
    } as const
    const [fromMs, toMs] = [midnightMs - HOUR_MS, midnightMs + HOUR_MS]
    const { results } = await store.query({ fromMs, toMs, stepMs: 300_000, queries: [query] })
    const increase = [...(results[0]?.series[0]?.values ?? [])].reduce((sum, value) => sum + value, 0)
    assert.equal(increase, 120 * 100)
  } finally {
    await close()
  }
})
