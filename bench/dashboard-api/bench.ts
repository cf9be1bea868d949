import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appRoutes, createStore, type Store } from '@sonde/console'
import type { AppMetricsAnswer } from '@sonde/sdk/api'
import { serveAgent } from '../../packages/agent/test/served-agent.ts'
import { atLeast, type BenchResult, median, type RunBench } from '../bench.ts'
import {
  APP,
  HOURS,
  INTERVAL_MS,
  METRICS,
  PODS,
  RAW_METRIC,
  rowsInto,
  SERVICES,
  serviceName,
  writeOpenMetrics,
} from './load.ts'
import { type Peer, startPeer } from './peer.ts'

const STEP_MS = 300_000
const LIMITS = { services: 100, concurrent: 10, cells: 250_000 }
const NAMES = Array.from({ length: SERVICES }, (_, service) => serviceName(service))

/** Times of one round. Unit: milliseconds. */
interface Round {
  readonly ours: number
  readonly one: number
  readonly exact: number
  readonly raw: number
}

export const run: RunBench = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  const toMs = Math.floor(Date.now() / STEP_MS) * STEP_MS - 2 * 3_600_000
  const fromMs = toMs - HOURS * 3_600_000
  const openMetrics = join(folder, 'rows.txt')
  const lines = writeOpenMetrics(openMetrics, fromMs)
  const peer = await startPeer(folder, openMetrics)
  rmSync(openMetrics)
  const { ask, close } = await openOurs(join(folder, 'store.db'), fromMs, toMs)
  try {
    compare(JSON.parse(await ask()) as AppMetricsAnswer, await exactly(peer, fromMs, toMs))
    const taken: Round[] = []
    for (let round = -1; round < rounds; round++) {
      const times = {
        ours: await timeOf(ask),
        one: await timeOf(() =>
          peer.ask(`{__name__=~"${metricsOf('all').join('|')}",app="${APP}"}`, fromMs + STEP_MS, toMs, STEP_MS),
        ),
        exact: await timeOf(() => exactly(peer, fromMs, toMs)),
        raw: await timeOf(() => raw(peer, fromMs, toMs)),
      }
      if (round >= 0) taken.push(times)
    }
    return resultOf(taken, lines, peer.version)
  } finally {
    await close()
    await peer.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The route over a store that holds the rows. */
async function openOurs(path: string, fromMs: number, toMs: number) {
  const store: Store = await createStore({ path, maxBytes: 2 ** 40, queueLimitBytes: 256 << 20 })
  const report = rowsInto((batch) => store.accept(batch), fromMs)
  for (let hour = 0; hour < HOURS; hour++) {
    report(hour)
    await store.flush()
    await store.maintain()
  }
  const ends: (() => unknown)[] = []
  const routes = (app: Parameters<typeof appRoutes>[0]) => appRoutes(app, { history: store, limits: () => LIMITS })
  const test = { after: (end: () => unknown) => void ends.push(end) }
  const { address } = await serveAgent(test, { history: store, routes })
  const window = `start=${fromMs}&end=${toMs}&period=${STEP_MS / 1000}`
  return {
    async ask(): Promise<string> {
      const answer = await fetch(`${address}/api/v1/apps/${APP}/metrics-by-service?services=${NAMES}&${window}`)
      const text = await answer.text()
      if (!answer.ok) throw new Error(text.slice(0, 500))
      return text
    },
    async close() {
      for (const end of ends) await end()
      await store.close()
    },
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

function metricsOf(which: 'all' | 'but means'): string[] {
  return METRICS.flatMap(({ avg, min, max, count }) => (which === 'all' ? [avg, min, max, count] : [min, max, count]))
}

/** The same question as ours: eight means over time, and the rest as it is at each step. */
function exactly(peer: Peer, fromMs: number, toMs: number): Promise<string[]> {
  const means = METRICS.map(({ avg }) => `avg_over_time(${avg}{app="${APP}"}[${STEP_MS - 1}ms])`)
  const rest = `{__name__=~"${metricsOf('but means').join('|')}",app="${APP}"}`
  return Promise.all([...means, rest].map((query) => peer.ask(query, fromMs + STEP_MS, toMs, STEP_MS)))
}

/** One field from series of pods, as where nothing is recorded. */
function raw(peer: Peer, fromMs: number, toMs: number): Promise<string[]> {
  const queries = ['avg', 'min', 'max'].map((fn) => `${fn} by (service) (${RAW_METRIC}{app="${APP}"})`)
  return Promise.all(queries.map((query) => peer.ask(query, fromMs + STEP_MS, toMs, STEP_MS)))
}

interface PeerAnswer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>
      readonly values: readonly (readonly [seconds: number, value: string])[]
    }[]
  }
}

/** Both sides say the same: a fast answer that is wrong is none. */
function compare({ services, times }: AppMetricsAnswer, answers: readonly string[]): void {
  const parsed = answers.map((answer) => (JSON.parse(answer) as PeerAnswer).data.result)
  const rest = parsed.at(-1) ?? []
  for (const [i, name] of NAMES.entries()) {
    const ours = services[i]
    assert.equal(ours?.metrics.length, METRICS.length)
    for (const [field, { min, max, count }] of METRICS.entries()) {
      const valuesOf = (series: (typeof rest)[number] | undefined) => {
        assert.deepEqual(
          series?.values.map(([seconds]) => seconds * 1000),
          times,
        )
        return series.values.map(([, value]) => Number(value))
      }
      const same = (values: readonly (number | null)[] | undefined, expected: readonly number[]) => {
        for (const [at, value] of expected.entries()) {
          assert.ok(
            Math.abs((values?.[at] ?? Number.NaN) - value) <= Math.abs(value) * 1e-9,
            `${name}: ${values?.[at]}, ${value}`,
          )
        }
      }
      const metric = ours.metrics[field]
      same(metric?.avg, valuesOf(parsed[field]?.find((series) => series.metric.service === name)))
      for (const [statistic, of] of [
        ['min', min],
        ['max', max],
        ['count', count],
      ] as const) {
        const series = rest.find((each) => each.metric.service === name && each.metric.__name__ === of)
        same(metric?.[statistic], valuesOf(series))
      }
    }
  }
}

function resultOf(taken: readonly Round[], lines: number, version: string): BenchResult {
  const middle = (of: keyof Round) => median(taken.map((round) => round[of]))
  const ratioOf = (peer: (round: Round) => number) => taken.map((round) => peer(round) / round.ours)
  const best = ratioOf(({ one, exact }) => Math.min(one, exact))
  const ratio = median(best)
  return {
    figures: [
      { name: 'faster than Prometheus, the faster of its ways', value: ratio, unit: 'x', gate: atLeast(ratio, 1) },
      { name: 'faster than Prometheus, in one request', value: median(ratioOf(({ one }) => one)), unit: 'x' },
      { name: 'faster than Prometheus, exactly', value: median(ratioOf(({ exact }) => exact)), unit: 'x' },
      { name: 'embedded', value: middle('ours'), unit: 'ms' },
      { name: 'Prometheus, in one request', value: middle('one'), unit: 'ms' },
      { name: 'Prometheus, exactly', value: middle('exact'), unit: 'ms' },
      { name: 'Prometheus, raw series of pods, one field of eight', value: middle('raw'), unit: 'ms' },
    ],
    lines: [
      `One app, ${SERVICES} services of ${PODS} pods, ${HOURS} h at ${INTERVAL_MS / 1000} s: ${(lines / 1e6).toFixed(1)} M samples in Prometheus ${version}.`,
      `Ratios ${Math.min(...best).toFixed(2)} to ${Math.max(...best).toFixed(2)} x in ${taken.length} rounds.`,
    ],
  }
}
