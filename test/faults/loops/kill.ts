import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createStore } from '@sonde/console'
import { readRecord, viewsOf } from '@sonde/sdk'
import { ask } from '../../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'

const METRIC = 'sonde_source_samples_total'
/** What was reported longer ago than this is acknowledged. */
const ACK_LIMIT_MS = 1000
/** The part of it that may be missing. */
const ACK_MISSING_MAX = 0.01
const INTERVAL_MS = 1000

interface Acked {
  readonly nowMs: number
  readonly startedMs: number
  readonly ackedMs: number
  readonly values: readonly (number | null)[]
}

/** The samples up to the time before which everything is acknowledged. */
async function acked(sonde: SondeProcess, fromMs: number, upToMs?: number): Promise<Acked> {
  const { nowMs, startedMs, store } = await ask<{
    nowMs: number
    startedMs: number
    store: { ackedMs: number; state: string; reason: string }
  }>(sonde, '/api/v1/node')
  assert.equal(store.state, 'writing', store.reason)
  const { ackedMs } = store
  const toMs = upToMs ?? ackedMs
  if (toMs <= fromMs) return { nowMs, startedMs, ackedMs, values: [] }
  const matchers = [{ label: 'source', value: 'netdev' }]
  const form = { fromMs, toMs, stepMs: 200, queries: [{ metric: METRIC, function: 'max', matchers }] }
  const { results } = await ask<{ results: { series: { values: (number | null)[] }[] }[] }>(
    sonde,
    '/api/v1/query',
    form,
  )
  return { nowMs, startedMs, ackedMs, values: results[0]?.series[0]?.values ?? [] }
}

/**
 * Reads all records of one interface back: each is there once, and gaps are only if a life ended. Gives their
 * number.
 */
async function countOnce(dir: string, lives: number): Promise<number> {
  const store = await createStore({ path: join(dir, 'store.db') })
  try {
    const batches = await store.records({ type: 'netdev', fromMs: 0, toMs: Date.now(), recordLimit: 10_000_000 })
    const timesMs = batches.flatMap(({ type, bytes, count, symbols }) => {
      const views = viewsOf(bytes)
      return Array.from({ length: count }, (_, i) => readRecord(type, views, i * type.layout.recordBytes, symbols))
        .filter(({ device }) => device === 'lo')
        .map(({ time }) => Number(time) / 1e6)
    })
    timesMs.sort((a, b) => a - b)
    assert.equal(new Set(timesMs).size, timesMs.length, 'a record came back twice')
    const gaps = timesMs.filter((timeMs, i) => timeMs - (timesMs[i - 1] ?? timeMs) > 1.5 * INTERVAL_MS).length
    assert.ok(gaps < lives, `${gaps} gaps in ${lives} lives`)
    return timesMs.length
  } finally {
    await store.close()
  }
}

/** Ends `sonde up` at a random moment and starts it again on the same data. */
export const kill: FaultLoop = {
  name: 'kill',
  what: 'kill -9 of `sonde up` at a random moment: it starts again, the store opens, and everything acknowledged is read back, once',
  testRounds: 4,
  async open() {
    const dir = temporaryDir()
    const args = ['up', '--data-dir', dir.path, '--log-level', 'error']
    let sonde = await startSonde(args)
    let lives = 1
    let kept = 0
    let dueMs = 0
    let missingMs = 0
    const missing = () => (dueMs === 0 ? 0 : missingMs / dueMs)
    return {
      async round(random) {
        const fromMs = Math.floor((Date.now() - 1000) / 1000) * 1000
        // Half of the rounds end it before anything is acknowledged: while it starts, or in its first write.
        const early = inTurn(random, [true, false])
        let before: Acked | undefined
        await new Promise((resolve) => setTimeout(resolve, random.integer(0, early ? 500 : 3000)))
        if (!early) {
          before = await until('an acknowledged sample', 60_000, async () => {
            const now = await acked(sonde, fromMs)
            return now.values.some((value) => value !== null) && now
          })
          dueMs += Math.max(0, before.nowMs - ACK_LIMIT_MS - before.startedMs)
          missingMs += Math.max(0, before.nowMs - ACK_LIMIT_MS - before.ackedMs)
        }
        await sonde.stop('SIGKILL')
        sonde = await startSonde(args)
        lives++
        if (before === undefined) return
        const after = await acked(sonde, fromMs, before.ackedMs)
        assert.deepEqual(after.values, before.values)
        kept += before.values.filter((value) => value !== null).length
      },
      gate() {
        assert.ok(
          missing() <= ACK_MISSING_MAX,
          `${(missing() * 100).toFixed(2)} % of what was due was not acknowledged`,
        )
      },
      async close() {
        await sonde.stop('SIGKILL')
        try {
          const records = await countOnce(dir.path, lives)
          return `${kept} acknowledged samples compared; ${records} records of one interface, each once; ${(missing() * 100).toFixed(2)} % of those older than 1 s not acknowledged`
        } finally {
          dir.remove()
        }
      },
    }
  },
}
