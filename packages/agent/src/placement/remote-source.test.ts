import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { absenceType, type Batch, readRecords, viewsOf } from '@sonde/sdk'
import pino from 'pino'
import { until } from '../../../sdk/test/helper.ts'
import { SOURCES, unrulyType } from '../../test/unruly-source.ts'
import type { DataSourceConfig } from '../config.ts'
import { makeRunner } from '../pipeline/make-runner.ts'
import type { SourceRunner } from '../pipeline/runner.ts'

/** Long enough for a slow machine; only a call that hangs for good meets a short limit. */
const CALL_LIMIT_MS = 60_000
const HANG_LIMIT_MS = 400
const running: SourceRunner[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.stop(100)))
})

function startUnruly(type: string, options: object, callLimitMs = CALL_LIMIT_MS) {
  const definition = SOURCES.find(({ name }) => name === type)
  assert.ok(definition)
  const config: DataSourceConfig = { name: type, definition, intervalMs: 30, options: { at: 3, ...options } }
  const rows: { device: string; samples: number }[] = []
  const gone: string[] = []
  const accept = (batch: Batch) => {
    const { symbols } = batch.source
    if (batch.type === unrulyType && batch.count < 1000) {
      for (const row of readRecords(unrulyType, viewsOf(batch.bytes), batch.count, symbols)) {
        rows.push({ device: row.device, samples: Number(row.samples_total) })
      }
    }
    if (batch.type === absenceType) {
      for (const row of readRecords(absenceType, viewsOf(batch.bytes), batch.count, symbols))
        gone.push(`${row.type} ${row.code}`)
    }
  }
  const limits = {
    recent_window_s: 60,
    recent_bytes: 1 << 20,
    connections: 1,
    stream_clients: 1,
    stream_queries_per_s: 1000,
    parallel_queries: 1,
    source_call_ms: callLimitMs,
    source_flood_bytes: 1 << 20,
  }
  const runner = makeRunner(config, {
    config: { paths: { procfs: '/proc', sysfs: '/sys' }, limits },
    sourcesModule: new URL('../../test/unruly-source.ts', import.meta.url).href,
    accept,
    log: pino({ level: 'silent' }),
  })
  running.push(runner)
  runner.start(0)
  return { runner, rows, gone }
}

for (const type of ['unruly', 'unruly_worker']) {
  test(`${type}: records of the child arrive with their labels`, async () => {
    const { runner, rows } = startUnruly(type, { misdeed: 'none' })
    await until('five rows', () => rows.length >= 5)
    assert.equal(runner.state, 'reading')
    assert.deepEqual(
      rows.slice(0, 3),
      [1, 2, 3].map((samples) => ({ device: 'dev0', samples })),
    )
  })

  test(`${type}: a sample that throws is counted and the next goes on in the same process`, async () => {
    const { runner, rows } = startUnruly(type, { misdeed: 'throw' })
    await until('a sample after the failed one', () => rows.some(({ samples }) => samples === 5))
    assert.equal(runner.stats.restarts, 0)
    assert.ok(runner.stats.errors >= 1)
  })

  test(`${type}: records beyond the limit of a call are dropped and counted, and the source goes on`, async () => {
    const { runner, rows } = startUnruly(type, { misdeed: 'flood' })
    await until('a sample after the flood', () => rows.some(({ samples }) => samples === 4))
    assert.ok((runner.stats.dropped.get('flood') ?? 0) > 200_000)
  })

  test(`${type}: records beyond the symbols of the source are dropped and counted, and the source goes on`, async () => {
    const { runner, rows } = startUnruly(type, { misdeed: 'names' })
    await until('a sample after the names', () => rows.some(({ samples }) => samples === 4))
    assert.ok((runner.stats.dropped.get('symbol_limit') ?? 0) > 4000)
  })
}

test('a child that hangs is stuck, its series leave, and another takes its place', async () => {
  const { runner, rows, gone } = startUnruly('unruly', { misdeed: 'hang' }, HANG_LIMIT_MS)
  await until('stuck', () => runner.state === 'stuck')
  assert.match(runner.reason, /took more than 400 ms/)
  await until('gone', () => gone.includes('unruly gone'))
  const before = rows.length
  await until('rows of the next child', () => rows.length > before && rows.at(-1)?.samples === 1)
  assert.ok(runner.stats.restarts >= 1)
})

test('a child that crashes is replaced', async () => {
  const { runner, rows, gone } = startUnruly('unruly', { misdeed: 'crash' })
  await until('a crash', () => runner.stats.restarts >= 1)
  assert.ok(gone.includes('unruly gone'))
  const before = rows.length
  await until('rows of the next child', () => rows.length > before)
})

test('stopping ends at its limit while a child hangs in a call', { timeout: 60_000 }, async () => {
  const { runner, rows } = startUnruly('unruly', { misdeed: 'hang', at: 2 }, HANG_LIMIT_MS)
  await until('the sample before the hang', () => rows.length >= 1)
  await runner.stop(200)
})
