import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { PrometheusHistory } from '@sonde/console'
import { buckets, counter, createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'
import type { History, QueryResult, SeriesQuery } from '@sonde/sdk/internal'
import { openStore } from '../../packages/console/test/open-store.ts'
import { type DebianProgram, needs } from '../debian.ts'
import { type PeerSample, startBackfilled, startVictoria } from './query-peers.ts'

// The same questions to the store and to servers with the HTTP API of Prometheus, over the same samples. The
// differences stand in docs/http-api.md.

const INTERVAL_MS = 15_000
/** Two hours ago, so that backfilled blocks are over; samples lie off the grid. */
const START_MS = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 2 * 3_600_000
const PHASE_MS = 3217
const COUNT = 80
const EDGES = [0.1, 1, 10]
/** A reading that is NaN. */
const ODD = 30

const type = defineType('suite', 'Records of the suite', {
  time: timestamp(),
  service: label(),
  pod: label(),
  gpu: label(),
  bytes_total: counter('f64'),
  level: gauge('f64'),
  heat: gauge('f64'),
  waits: buckets('u64', EDGES, { unit: 'seconds' }),
  busy: counter('f64', { metric: 'suite_modes_total', labels: { mode: 'busy' } }),
  idle: counter('f64', { metric: 'suite_modes_total', labels: { mode: 'idle' } }),
})

interface HistoryRow {
  readonly at: number
  readonly service: string
  readonly pod: string
  readonly gpu: string
  readonly bytes_total: number
  readonly level: number
  readonly heat: number
  readonly waits: readonly bigint[]
  readonly busy: number
  readonly idle: number
}

/** GPUs of three pods: one pod has two, one misses a stretch, one restarts, and one comes late. */
function rows(): HistoryRow[] {
  const found: HistoryRow[] = []
  const gpus = [
    { service: 'api', pod: 'regular', gpu: '0' },
    { service: 'api', pod: 'regular', gpu: '1' },
    { service: 'api', pod: 'regular|"x.y"', gpu: '0' },
    { service: 'api', pod: 'holed', gpu: '0' },
    { service: 'batch', pod: 'restarted', gpu: '0' },
    { service: 'batch', pod: 'late', gpu: '0' },
  ]
  for (const [i, labels] of gpus.entries()) {
    for (let at = 0; at < COUNT; at++) {
      if (labels.pod === 'holed' && at >= 40 && at < 60) continue
      if (labels.pod === 'late' && at < 50) continue
      const counted = (at * at + 1000) * (i + 1) * 10
      const bytes_total = labels.pod === 'restarted' && at >= 45 ? counted - 25_000 : counted
      const heat = at === ODD ? Number.NaN : at
      const waits = [5, 3, 2, 1].map((each, bin) => BigInt(each * at + (at >> (bin + 1))))
      const level = ((at * 7919 + i * 104_729) % 1000) / 10
      found.push({ at, ...labels, bytes_total, level, heat, waits, busy: at * (i + 1), idle: 100 * at + i })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}

const timeOf = (at: number) => START_MS + at * INTERVAL_MS + PHASE_MS

function samplesOf(all: readonly HistoryRow[]): PeerSample[] {
  const plain = (['bytes_total', 'level', 'heat'] as const).flatMap((field) =>
    all.map(({ at, service, pod, gpu, ...values }) => {
      return { metric: `suite_${field}`, labels: { service, pod, gpu }, timeMs: timeOf(at), value: values[field] }
    }),
  )
  const modes = (['busy', 'idle'] as const).flatMap((mode) =>
    all.map(({ at, service, pod, gpu, ...values }) => {
      const labels = { service, pod, gpu, mode }
      return { metric: 'suite_modes_total', labels, timeMs: timeOf(at), value: values[mode] }
    }),
  )
  const ofBins = all.flatMap(({ at, service, pod, gpu, waits }) => {
    let below = 0
    return waits.map((count, bin) => {
      below += Number(count)
      const labels = { service, pod, gpu, le: bin < EDGES.length ? String(EDGES[bin]) : '+Inf' }
      return { metric: 'suite_waits_bucket', labels, timeMs: timeOf(at), value: below }
    })
  })
  return [...plain, ...modes.sort((a, b) => a.timeMs - b.timeMs), ...ofBins.sort((a, b) => a.timeMs - b.timeMs)]
}

type Question = Partial<SeriesQuery> & { readonly metric: string }

async function ask(history: History, question: Question, stepMs: number): Promise<QueryResult> {
  const query: SeriesQuery = { function: 'last', matchers: [], by: undefined, aggregate: 'sum', ...question }
  const request = { fromMs: START_MS, toMs: START_MS + COUNT * INTERVAL_MS, stepMs, queries: [query] }
  const { results } = await history.query(request)
  return results[0] as QueryResult
}

/** Values of each series by its labels, gaps as null. */
function plain({ series }: QueryResult): ReadonlyMap<string, (number | null)[]> {
  const named = series.map(({ labels, values }): [string, (number | null)[]] => {
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
    return [key, Array.from(values, (value) => (Number.isNaN(value) ? null : value))]
  })
  return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Where the values of two answers differ by more than rounding. */
function differences(ours: QueryResult, theirs: QueryResult): string[] {
  const [a, b] = [plain(ours), plain(theirs)]
  assert.deepEqual([...b.keys()], [...a.keys()])
  return [...a].flatMap(([key, values]) =>
    values.flatMap((value, i) => {
      const other = b.get(key)?.[i] ?? null
      if (value === other) return []
      if (value !== null && other !== null && Math.abs(value - other) <= 1e-9 * Math.abs(value)) return []
      return [`${/"pod","([a-z]+)/.exec(key)?.[1] ?? key}@${i}: ${value} here, ${other} there`]
    }),
  )
}

async function filledStore(t: Pick<TestContext, 'after'>, all: readonly HistoryRow[]): Promise<History> {
  const { store, close } = await openStore()
  t.after(close)
  const source = createSource({ id: 'suite', intervalMs: INTERVAL_MS, emit: (batch) => store.accept(batch) })
  for (const { at, ...values } of all) {
    source.report(type, { time: BigInt(timeOf(at)) * 1_000_000n, ...values })
    if (at % 10 === 9) source.flush()
  }
  source.flush()
  await store.flush()
  return store
}

/** VictoriaMetrics looks beyond a hole for the reading before, so what it tells next to one is its own. */
const knows = (difference: string) => !/^(holed|restarted)@/.test(difference)

const podIs = (value: string) => ({ label: 'pod', op: '=', value }) as const

const PEERS: readonly {
  readonly name: string
  readonly programs: readonly DebianProgram[]
  readonly start: typeof startBackfilled
}[] = [
  { name: 'Prometheus', programs: ['prometheus', 'promtool'], start: startBackfilled },
  { name: 'VictoriaMetrics', programs: ['victoria-metrics'], start: startVictoria },
]

for (const { name, programs, start } of PEERS) {
  describe(`the store and ${name}`, needs(...programs), () => {
    let store: History
    let peer: PrometheusHistory
    // What a hook registers ends with the hook.
    const ends: (() => unknown)[] = []
    after(() => Promise.all(ends.map((end) => end())))
    before(async () => {
      const all = rows()
      const t = { after: (end: () => unknown) => void ends.push(end) }
      store = await filledStore(t, all)
      peer = new PrometheusHistory({ url: await start(t, samplesOf(all)), intervalMs: INTERVAL_MS })
    })
    const compare = async (question: Question, stepMs: number) =>
      differences(await ask(store, question, stepMs), await ask(peer, question, stepMs))

    for (const stepMs of [5000, 15_000, 60_000, 300_000]) {
      for (const fn of ['last', 'avg', 'min', 'max'] as const) {
        it(`agree on ${fn} in steps of ${stepMs / 1000} s, with holes and late series`, async () => {
          assert.deepEqual(await compare({ metric: 'suite_level', function: fn }, stepMs), [])
        })
      }
    }
    for (const fn of ['rate', 'increase'] as const) {
      it(`agree on ${fn} where a step holds no pair of readings, or one`, async () => {
        const question = { metric: 'suite_bytes_total', function: fn }
        for (const stepMs of [5000, 15_000]) assert.deepEqual((await compare(question, stepMs)).filter(knows), [])
      })
      it(`agree on ${fn} over several pairs of readings, but for the steps that a series begins in`, async () => {
        const question = { metric: 'suite_bytes_total', function: fn, matchers: [podIs('regular')] }
        for (const stepMs of [60_000, 300_000]) {
          const found = (await compare(question, stepMs)).filter(knows)
          assert.deepEqual(
            found.filter((difference) => !difference.includes('@0:')),
            [],
          )
          assert.equal(found.length, name === 'Prometheus' || fn === 'increase' ? 2 : 0, 'what a part of a step says')
        }
      })
    }
    it('tell no rate across a restart, and agree on when it was, to a step', async () => {
      const question = { metric: 'suite_bytes_total', function: 'rate', matchers: [podIs('restarted')] } as const
      for (const stepMs of [15_000, 60_000, 300_000]) {
        const [ours] = (await ask(store, question, stepMs)).series
        const [theirs] = (await ask(peer, question, stepMs)).series
        const resetMs = Math.round(ours?.resetsMs[0] ?? 0)
        assert.equal(resetMs, timeOf(45))
        const place = Math.ceil(resetMs / stepMs) - Math.ceil((START_MS + 1) / stepMs)
        assert.ok(Number.isNaN(theirs?.values[place]), `${stepMs} ms: a number across a restart`)
        assert.deepEqual(theirs?.resetsMs, [Math.ceil(resetMs / stepMs) * stepMs])
      }
    })
    it('agree on quantiles', async () => {
      for (const quantile of [0.1, 0.5, 0.99]) {
        const question = { metric: 'suite_waits', function: 'quantile', quantile, by: ['pod'] } as const
        for (const stepMs of [60_000, 300_000])
          assert.deepEqual(await compare({ ...question, matchers: [podIs('regular')] }, stepMs), [])
      }
    })
    it('differ on a reading that is NaN: only Prometheus takes it into the step', async () => {
      const question = { metric: 'suite_heat', function: 'avg', matchers: [podIs('late')] } as const
      assert.deepEqual(await compare(question, 60_000), [], 'a pod that has none')
      const found = await compare({ ...question, matchers: [podIs('regular')] }, 60_000)
      assert.deepEqual(
        found.map((difference) => difference.replace(/[\d.]+ here/, 'a mean here')),
        name === 'Prometheus' ? Array.from({ length: 2 }, () => 'regular@7: a mean here, null there') : [],
      )
    })
    it('differ beside a hole in nothing but the steps that it begins and ends in', async () => {
      const question = { metric: 'suite_bytes_total', function: 'rate', matchers: [podIs('holed')] } as const
      const steps = async (stepMs: number) =>
        (await compare(question, stepMs)).map((found) => Number(/@(\d+)/.exec(found)?.[1]))
      assert.deepEqual(await steps(15_000), name === 'Prometheus' ? [] : [41])
      assert.deepEqual(await steps(60_000), name === 'Prometheus' ? [0, 15] : [10])
    })
    it('agree on matchers, quotes and characters of expressions', async () => {
      const questions = [
        podIs('regular|"x.y"'),
        ...(['=~', '!~'] as const).flatMap((op) =>
          ['regular', 'reg.*', 'regular\\|"x\\.y"', 'late|holed', '.*', '(?i)LATE', ''].map((value) => ({
            label: 'pod',
            op,
            value,
          })),
        ),
        { label: 'nobody', op: '=', value: '' } as const,
        { label: 'nobody', op: '!=', value: '' } as const,
      ]
      for (const matcher of questions)
        assert.deepEqual(
          await compare({ metric: 'suite_level', matchers: [matcher] }, 60_000),
          [],
          JSON.stringify(matcher),
        )
    })
    it('agree on fields of one metric with constant labels', async () => {
      const metric = 'suite_modes_total'
      const modeIs = (op: '=' | '!=' | '=~', value: string) => ({ label: 'mode', op, value })
      for (const stepMs of [15_000, 60_000]) {
        assert.deepEqual(await compare({ metric }, stepMs), [])
        for (const matcher of [modeIs('=', 'idle'), modeIs('!=', 'idle'), modeIs('=~', 'b.*|none'), modeIs('=', '')])
          assert.deepEqual(await compare({ metric, matchers: [matcher, podIs('regular')] }, stepMs), [])
        for (const by of [['mode'], ['pod', 'mode']]) assert.deepEqual(await compare({ metric, by }, stepMs), [])
      }
    })
    it('agree on every aggregate, in one level and in two', async () => {
      for (const aggregate of ['sum', 'avg', 'min', 'max', 'count'] as const) {
        for (const by of [[], ['service'], ['pod', 'service']]) {
          assert.deepEqual(await compare({ metric: 'suite_level', by, aggregate }, 60_000), [])
          for (const first of ['sum', 'avg', 'min', 'max', 'count'] as const) {
            const within = { by: ['pod'], aggregate: first }
            assert.deepEqual(await compare({ metric: 'suite_level', by, aggregate, within }, 60_000), [])
          }
        }
      }
    })
  })
}
