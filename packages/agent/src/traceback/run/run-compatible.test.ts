import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { type ReferenceBook, type ReferenceSample, referenceLog } from '../../../test/reference/reference-log.ts'
import { readCompatBook } from '../../rules/compat/compat-book.ts'
import { openFileFeed } from '../feed/file-feed.ts'
import type { SampleFeed } from '../feed/sample-feed.ts'
import { writeSamples } from '../feed/test-samples.ts'
import { runCompatible } from './run-compatible.ts'

const KINDS = ['gt', 'lt', 'inc_gt', 'dt_gt', 'dt_lt'] as const
const ROUNDS = 150
const START_S = 1_790_000_000
const PERIOD_NS = 250_000_000
const SECOND_NS = 1_000_000_000n
const VERSION = '3.4.0012'

/** Values that stay near the limits of the rules, jump, fall, and wrap. */
function valuesOf(random: Random, samples: number): bigint[] {
  const kind = random.integer(0, 3)
  let value = kind === 3 ? 2n ** 64n - BigInt(random.integer(0, 60)) : BigInt(random.integer(0, 30))
  return Array.from({ length: samples }, () => {
    if (kind === 0) value = BigInt(random.integer(0, 20))
    else if (random.chance(0.05)) value = random.chance(0.5) ? BigInt(random.integer(0, 30)) : random.bits64()
    else value = BigInt.asUintN(64, value + BigInt(random.integer(0, random.chance(0.2) ? 30 : 4)))
    return value
  })
}

function bookOf(random: Random): ReferenceBook {
  const dataIds = Array.from({ length: random.integer(1, 3) }, (_, column) => {
    return { name: `c${column}`, dataId: (0x1020n << 48n) | BigInt(column) }
  })
  const rules = Array.from({ length: random.integer(1, 6) }, (_, index) => {
    const value = random.chance(0.05) ? random.bits64() : BigInt(random.integer(0, 20))
    return { name: `r${index}`, kind: random.pick(KINDS), dataId: random.pick(dataIds).dataId, value }
  })
  return { samplePeriodNs: PERIOD_NS, depth: random.pick([1, 2, 4, 8, 16]), dataIds, rules }
}

/** The rules as a file; values beyond what JSON numbers hold are in quotes, which the reference takes. */
function rulesFileText({ samplePeriodNs, depth, dataIds, rules }: ReferenceBook): string {
  return JSON.stringify({
    diag_sample_period_ns: samplePeriodNs,
    sample_history_depth: depth,
    'data-ids': dataIds.map(({ name, dataId }) => ({ name, data_id: dataId.toString(16) })),
    rules: rules.map(({ name, kind, dataId, value }) => ({
      name,
      data_id: dataId.toString(16),
      comparison_type: kind,
      comparison_value: String(value),
    })),
  })
}

/** A feed that gives as many samples at a time as a test likes. */
function inPieces(feed: SampleFeed, random: Random): SampleFeed {
  return {
    info: feed.info,
    read: (ring, limit, stop) => feed.read(ring, Math.min(limit, random.integer(1, 40)), stop),
    close: () => feed.close(),
  }
}

test('writes the log that a slow model of the reference writes, over random rules and samples', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-compat-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  const device = `file:${path('samples')}`
  let starts = 0
  for (let round = 0; round < ROUNDS; round++) {
    const random = new Random(SEED * 10_000 + round)
    const book = bookOf(random)
    const count = random.integer(1, 300)
    const columns = book.dataIds.map(() => valuesOf(random, count))
    const rows = Array.from({ length: count }, (_, index) => columns.map((column) => column[index] as bigint))
    writeSamples(path('samples'), rows, {
      dataIds: book.dataIds.map(({ dataId }) => dataId),
      samplePeriodNs: PERIOD_NS,
    })
    await runCompatible({
      book: readCompatBook(rulesFileText(book)),
      device,
      openFeed: async (request) => inPieces(await openFileFeed(request), random),
      forceOwnership: false,
      logPath: path('log'),
      docaVersion: VERSION,
      stop: new AbortController().signal,
    })
    const samples = rows.map((values, index): ReferenceSample => {
      const hostWallNs = BigInt(START_S) * SECOND_NS + BigInt(index) * BigInt(PERIOD_NS)
      const [earliestTimestampHigh, latestTimestampLow] = [hostWallNs / SECOND_NS, hostWallNs % SECOND_NS].map(Number)
      return { earliestTimestampHigh, latestTimestampLow, hostWallNs, values, isSkipped: false } as ReferenceSample
    })
    const expected = referenceLog({ version: VERSION, device }, book, samples)
    assert.equal(
      readFileSync(path('log'), 'latin1'),
      expected,
      `round ${round} of seed ${SEED}: ${rulesFileText(book)}`,
    )
    starts += expected.split('<<Event start>>').length - 1
  }
  assert.ok(starts > 1000, `${starts} events`)
})
