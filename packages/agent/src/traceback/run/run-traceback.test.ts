import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { readRuleBook } from '../../rules/read/read-rule-book.ts'
import { RX_BYTES } from '../../rules/read/test-rules.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { SampleFeed } from '../feed/sample-feed.ts'
import { jsonRows } from '../log/json-rows.ts'
import { runTraceback, type TracebackTotals } from './run-traceback.ts'

const START_NS = 1_790_000_000_000_000_000n
const PERIOD_NS = 100_000n

interface TracebackRow {
  readonly row: 'head' | 'sample' | 'start' | 'end' | 'note'
  readonly time_ns: string
  readonly event: number
  readonly reason: string
  readonly note: string
  readonly text: string
}

/** The result of each read of a test's feed: samples, nothing yet, or an error. */
type Piece = readonly number[] | 'nothing' | (() => never)

/** A device that gives what a test says, as a NIC does: some samples, none for a while, an error. */
function feedOf(pieces: readonly Piece[]): SampleFeed & { closed: number } {
  let number = 0
  let next = 0
  return {
    info: { device: 'test', samplePeriodNs: Number(PERIOD_NS), clock: 'rtc' },
    closed: 0,
    async read(ring, _limit, _stop) {
      const piece = pieces[next++]
      if (piece === undefined) return 'end'
      if (piece === 'nothing') {
        const untilMs = performance.now() + 1
        await until(() => performance.now() > untilMs)
        return 0
      }
      if (typeof piece === 'function') return piece()
      for (const value of piece) put(ring, number++, BigInt(value))
      return piece.length
    },
    async close() {
      this.closed++
    },
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

function put(ring: DeviceRing, number: number, value: bigint): void {
  const word = ring.push()
  ring.words[word + SAMPLE_AT.id] = number
  ring.words[word + SAMPLE_AT.flags] = 0
  const times = START_NS + BigInt(number) * PERIOD_NS
  for (const [at, big] of [
    [SAMPLE_AT.time, times],
    [SAMPLE_AT.raw, BigInt(number)],
    [SAMPLE_AT.wall, times],
    [SAMPLE_AT.values, value],
  ] as const) {
    ring.words[word + at] = Number(big & 0xffff_ffffn)
    ring.words[word + at + 1] = Number(big >> 32n)
  }
}

/** Runs rules over a feed; the rows of the log. */
async function run(
  t: TestContext,
  rules: readonly object[],
  feed: SampleFeed,
  depth = 2,
): Promise<{ rows: TracebackRow[]; totals: TracebackTotals | undefined; error: unknown }> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'log')
  const named = rules.map((rule, index) => ({ name: `r${index}`, data_id: RX_BYTES, ...rule }))
  const file = {
    diag_sample_period_ns: Number(PERIOD_NS),
    sample_history_depth: depth,
    'data-ids': [{ name: 'rx', data_id: RX_BYTES }],
    rules: named,
  }
  let totals: TracebackTotals | undefined
  let error: unknown
  try {
    totals = await runTraceback({
      book: readRuleBook(JSON.stringify(file)).book,
      device: 'test',
      openFeed: async () => feed,
      forceOwnership: false,
      file: { path },
      rows: jsonRows,
      version: '1',
      eventsPerMinute: 1_000_000,
      stop: new AbortController().signal,
    })
  } catch (thrown) {
    error = thrown
  }
  const text = readFileSync(path, 'utf8')
  return {
    rows: text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
    totals,
    error,
  }
}

const sampleOf = ({ time_ns }: TracebackRow) => Number((BigInt(time_ns) - START_NS) / PERIOD_NS)

test('a device that fails in the middle of an event leaves an event with an end, and the reason', async (t) => {
  const feed = feedOf([
    [1, 11, 11],
    () => {
      throw new SondeError('TRB_DEVICE', 'mlx5_0 is gone')
    },
  ])
  const { rows, error } = await run(t, [{ comparison_type: 'gt', comparison_value: 10 }], feed)
  assert.equal((error as SondeError).code, 'TRB_DEVICE')
  assert.deepEqual(
    rows.slice(-2).map(({ row, reason, note, text }) => [row, reason ?? note, text]),
    [
      ['end', 'failed', undefined],
      ['note', 'stopped', 'mlx5_0 is gone'],
    ],
  )
  assert.equal(feed.closed, 1)
})

test('a rule of absence begins while no sample comes, and ends with the next', async (t) => {
  const feed = feedOf([[1, 1], 'nothing', [1]])
  const { rows } = await run(t, [{ comparison_type: 'absent', absent_ms: 0.2 }], feed)
  const [start, end] = rows.filter(({ row }) => row === 'start' || row === 'end')
  assert.equal(start?.time_ns, String(START_NS + PERIOD_NS + 200_000n))
  assert.equal(end?.row === 'end' && end.reason, 'cleared')
})

test('over random rules: no sample twice, all while an event is open, all of its history, each start with its end', async (t) => {
  let events = 0
  for (let round = 0; round < 60; round++) {
    const random = new Random(SEED * 1000 + round)
    const depth = random.integer(1, 10)
    const rules = Array.from({ length: random.integer(1, 4) }, () => ({
      comparison_type: random.pick(['gt', 'lt', 'inc_gt', 'dt_gt', 'change']),
      comparison_value: random.integer(0, 20),
    })).map(({ comparison_type, comparison_value }) =>
      comparison_type === 'change' ? { comparison_type } : { comparison_type, comparison_value },
    )
    let value = 0
    const pieces = Array.from({ length: 30 }, () =>
      Array.from({ length: random.integer(1, 30) }, () => {
        value = random.chance(0.1) ? random.integer(0, 20) : value + random.integer(0, 2)
        return value
      }),
    )
    const { rows } = await run(t, rules, feedOf(pieces), depth)
    events += checkRows(rows, depth)
  }
  assert.ok(events > 300, `${events} events`)
})

/** Checks the rows of a log against its guarantees. Returns the number of its events. */
function checkRows(rows: readonly TracebackRow[], depth: number): number {
  const open = new Set<number>()
  const logged = new Set<number>()
  let last = -1
  let events = 0
  for (const row of rows) {
    if (row.row === 'sample') {
      const sample = sampleOf(row)
      assert.ok(sample > last, `sample ${sample} behind ${last}`)
      if (open.size > 0) assert.equal(sample, last + 1, 'a sample of an open event is missing')
      last = sample
      logged.add(sample)
    } else if (row.row === 'start') {
      assert.equal(row.event, ++events)
      assert.equal(sampleOf(row), last)
      for (let old = Math.max(0, last + 1 - 2 * depth); old <= last; old++)
        assert.ok(logged.has(old), `${old} of ${last}`)
      open.add(row.event)
    } else if (row.row === 'end') assert.ok(open.delete(row.event))
  }
  assert.equal(open.size, 0)
  return events
}
