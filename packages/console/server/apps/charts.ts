import type { AppMetricsAnswer, GpuField, GpuSeries } from '@sonde/sdk/api'
import {
  type ChartParameters,
  type ChartRequest,
  chartTime,
  type History,
  type QueryResult,
  type SeriesQuery,
} from '@sonde/sdk/internal'
import { appMetric, shownNumber } from './fields.ts'
import { serviceMatchers } from './matchers.ts'
import { requestOfNow } from './now.ts'
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

/** Queries a history for the recorded rows of services, in one request. */
export async function chartsOf(history: History, asked: ChartRequest): Promise<AppMetricsAnswer> {
  const { app, services, fields, startMs, endMs, periodMs } = asked
  const matchers = serviceMatchers(app, services)
  const queries = fields.flatMap((field) =>
    STATISTICS.map((statistic): SeriesQuery => {
      const metric = appMetric(field, statistic)
      return { metric, function: statistic === 'avg' ? 'avg' : 'last', matchers, by: ['service'], aggregate: 'max' }
    }),
  )
  const answer = await history.query({ fromMs: startMs, toMs: endMs, stepMs: periodMs, queries })
  const places = answer.results.map(placesOf)
  return {
    ...{ app, startMs, endMs, periodMs, times: [...answer.times] },
    services: services.map((name) => ({
      name,
      metrics: fields.flatMap((field, at) => seriesOf(field, name, places, at)),
    })),
  }
}

function placesOf({ series }: QueryResult): ReadonlyMap<string, Float64Array> {
  return new Map(series.map(({ labels, values }) => [labels.service ?? '', values]))
}

function seriesOf(
  name: GpuField,
  service: string,
  places: readonly ReadonlyMap<string, Float64Array>[],
  at: number,
): GpuSeries[] {
  const [avg, min, max, count] = STATISTICS.map((_, statistic) =>
    places[at * STATISTICS.length + statistic]?.get(service),
  )
  if (avg === undefined || avg.every(Number.isNaN)) return []
  const shown = (value: number) => shownNumber(name, value)
  return [{ name, avg: listOf(avg, shown), min: listOf(min, shown), max: listOf(max, shown), count: listOf(count) }]
}

function listOf(
  values: Float64Array = new Float64Array(),
  shown: (value: number) => number = (value) => value,
): (number | null)[] {
  return Array.from(values, (value) => (Number.isNaN(value) ? null : shown(value)))
}
