import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, type SourceOptions } from '@sonde/sdk'
import { parseQueryRequest, type QueryAnswer } from '@sonde/sdk/internal'
import { property } from '../../../sdk/test/helper.ts'
import { assertBins, type Counted, drawCounted, recordOf, waitsType } from '../../../sdk/test/histograms.ts'
import { Random } from '../../../sdk/test/random.ts'
import { openStore } from '../../test/open-store.ts'
import { createStore, type Store } from './store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const EDGES = [0.0001, 0.0002, 0.0004]
const OTHER_EDGES = [0.0001, 0.001]

/** The start of an hour of a past day, so that it is compacted and rolled up. */
const FROM_MS = Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - 20 * HOUR_MS
const TO_MS = FROM_MS + 10 * MINUTE_MS

async function report(store: Store, type: ReturnType<typeof waitsType>, records: readonly Counted[]): Promise<void> {
  const options: SourceOptions = { id: 'test', intervalMs: 1000, emit: (batch) => store.accept(batch) }
  const source = createSource(options)
  for (const record of records) source.report(type, recordOf(record))
  source.flush()
  await store.flush()
}

function ask(store: Store, stepMs: number, query: object, fromMs = FROM_MS): Promise<QueryAnswer> {
  const queries = [{ metric: 'waits_seconds', ...query }]
  return store.query(parseQueryRequest({ fromMs, toMs: TO_MS, stepMs, queries }))
}

for (const kind of ['u32', 'u64'] as const) {
  property(
    `the store answers of bins of ${kind} as their records say, before and after compaction`,
    3,
    async (random) => {
      const { store, close } = await openStore()
      try {
        const drawn = ['a', 'b'].map((device) => drawCounted(random, device, 4, FROM_MS, TO_MS).map(ofKind))
        const ofOther = drawCounted(random, 'c', 3, FROM_MS, TO_MS).map(ofKind)
        await report(store, waitsType(EDGES, kind), drawn.flat())
        await report(store, waitsType(OTHER_EDGES, kind), ofOther)
        // Head, chunks, and chunks beside the roll-ups of their day.
        for (let round = 0; round < 3; round++) {
          for (const stepMs of [10_000, 5 * MINUTE_MS]) {
            for (const asked of ['increase', 'rate']) {
              const { times, results } = await ask(store, stepMs, { function: asked })
              assert.ok(results[0])
              for (const records of drawn) assertBins(results[0], times, stepMs, records, EDGES)
              assertBins(results[0], times, stepMs, ofOther, OTHER_EDGES)
              assert.deepEqual(results[0].notes, [])
            }
          }
          await store.maintain()
        }
      } finally {
        await close()
      }
    },
  )

  /** Counts of u32 cannot hold large numbers. */
  function ofKind(record: Counted): Counted {
    return kind === 'u64' ? record : { ...record, counts: record.counts.map((count) => count % 2n ** 32n) }
  }
}

test('bins whose records are deleted are absent, and the answer says why', async () => {
  const { store, path, close } = await openStore()
  try {
    const nowMs = Date.now()
    const recent = drawCounted(new Random(2), 'a', 4, nowMs - MINUTE_MS, nowMs)
    const records = [...drawCounted(new Random(1), 'a', 4, FROM_MS, TO_MS), ...recent]
    await report(store, waitsType(EDGES), records)
    // The first upkeep compacts, the second rolls up.
    await store.maintain()
    await store.maintain()
    await store.close()
    const aged = await createStore({ path, retentionDays: 1 / 24 })
    try {
      await aged.maintain()
      const { results } = await ask(aged, 5 * MINUTE_MS, { function: 'increase' })
      assert.deepEqual(results[0]?.series, [])
      assert.match(results[0]?.notes.join() ?? '', /^Bins are kept in records only.* absent before \d{4}-.*Z/)
    } finally {
      await aged.close()
    }
  } finally {
    await close()
  }
})
