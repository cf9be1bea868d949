import type { AppMetricsAnswer, GpuField, GpuSeries } from '@sonde/sdk/api'
import {
  type ChartParameters,
  type ChartRequest,
  chartTime,
  type History,
  type SeriesAnswer,
  type SeriesQuery,
} from '@sonde/sdk/internal'
import { appMetric, shownNumber } from './fields.ts'
import { serviceMatchers } from './matchers.ts'
import { agentKey, requestOfNow } from './now.ts'
import { distanceOf } from './pods.ts'

const STATISTICS = ['avg', 'min', 'max', 'count'] as const

/**
 * The longest distance between rows among the requested services, at the end of a window. It is not queried if the
 * request names its period, or has no valid end.
 *
 * Unit: milliseconds; 0 if unknown.
 */
export async function intervalAt(
  history: History,
  app: string,
  services: readonly string[],
  asked: ChartParameters,
  nowMs: number,
): Promise<number> {
  if (asked.period !== undefined) return 0
  const matchers = serviceMatchers(app, services)
  const query: SeriesQuery = { metric: 'app_gpu_pods', function: 'last', matchers, by: undefined, aggregate: 'max' }
  const answer = await history.query(requestOfNow(chartTime(asked.end, 'end') ?? nowMs, [query]))
  return distanceOf(answer)
}

/**
 * Queries a history for the recorded rows of services, in one request. Each agent has a row for its own pods of a
 * service, so the rows of several agents are joined.
 */
export async function chartsOf(history: History, asked: ChartRequest): Promise<AppMetricsAnswer> {
  const { app, services, fields, startMs, endMs, periodMs } = asked
  const matchers = serviceMatchers(app, services)
  const queries = fields.flatMap((field) =>
    STATISTICS.map((statistic): SeriesQuery => {
      const metric = appMetric(field, statistic)
      if (statistic === 'avg') return { metric, function: 'avg', matchers, by: undefined, aggregate: 'sum' }
      if (statistic === 'count') return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
      return { metric, function: 'last', matchers, by: ['service'], aggregate: statistic }
    }),
  )
  const answer = await history.query({ fromMs: startMs, toMs: endMs, stepMs: periodMs, queries })
  const rows = answer.results.map(({ series }) => Map.groupBy(series, ({ labels }) => labels.service ?? ''))
  return {
    ...{ app, startMs, endMs, periodMs, times: [...answer.times] },
    services: services.map((name) => ({
      name,
      metrics: fields.flatMap((field, at) => {
        const ofField = rows.slice(at * STATISTICS.length, (at + 1) * STATISTICS.length)
        return seriesOf(
          field,
          ofField.map((byService) => byService.get(name) ?? []),
        )
      }),
    })),
  }
}

function seriesOf(name: GpuField, [avgs = [], mins = [], maxs = [], counts = []]: SeriesAnswer[][]): GpuSeries[] {
  const countBy = new Map(counts.map(({ labels, values }) => [agentKey(labels), values]))
  // An agent that two jobs scrape counts once.
  const means = [...new Map(avgs.map(({ labels, values }) => [agentKey(labels), values]))]
  if (means.every(([, values]) => values.every(Number.isNaN))) return []
  const avg = joinedMeans(means.map(([agent, values]) => ({ values, counts: countBy.get(agent) })))
  const count = sumOf([...countBy.values()])
  const shown = (value: number) => shownNumber(name, value)
  const [min, max] = [mins[0]?.values, maxs[0]?.values]
  return [{ name, avg: listOf(avg, shown), min: listOf(min, shown), max: listOf(max, shown), count: listOf(count) }]
}

interface AgentMeans {
  readonly values: Float64Array
  /** Pods at the end of each step. */
  readonly counts: Float64Array | undefined
}

/** The means of agents, by their number of pods. */
function joinedMeans(agents: readonly AgentMeans[]): Float64Array {
  const [first] = agents
  if (first === undefined || agents.length === 1) return first?.values ?? new Float64Array()
  return first.values.map((_, at) => {
    const known = agents.filter(({ values }) => !Number.isNaN(values[at]))
    // If all pods ended within the step, none is left to count by.
    const weights = known.map(({ counts }) => counts?.[at] || 0)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const sum = known.reduce((sum, { values }, i) => sum + (values[at] ?? 0) * (total === 0 ? 1 : (weights[i] ?? 0)), 0)
    return sum / (total === 0 ? known.length : total)
  })
}

/** The sums over agents, without those that have no value; NaN if none has. */
function sumOf(columns: readonly Float64Array[]): Float64Array | undefined {
  return columns[0]?.map((_, at) => {
    const known = columns.flatMap((values) => (Number.isNaN(values[at]) ? [] : (values[at] ?? [])))
    return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
  })
}

function listOf(
  values: Float64Array = new Float64Array(),
  shown: (value: number) => number = (value) => value,
): (number | null)[] {
  return Array.from(values, (value) => (Number.isNaN(value) ? null : shown(value)))
}
