import type { Labels, LatestSeries, ListedMetric, ListedType, MetricQuery } from '@sonde/sdk/api'
import { asSentence } from '../../format/words.ts'
import { firstFunction, isCounted } from '../../state/signal.ts'
import { seriesKeyOf } from './use-counter-rates.ts'

/** A row of the table of counters: a field of a series, or a field without a series. */
export interface CounterRow {
  readonly key: string
  readonly type: string
  readonly field: ListedMetric
  /** Name with the labels that distinguish rows of a field: `rx_pause_total priority 3`. */
  readonly name: string
  readonly latest: LatestSeries | undefined
  readonly rate: number
  /** The query that the explorer opens. */
  readonly query: MetricQuery
}

/**
 * One row per field and series of the given types. `matchersFor` returns the conditions that select the series of the
 * device. `shared` are the labels that all its series have.
 */
export function counterRows(
  types: readonly ListedType[],
  latest: readonly LatestSeries[],
  rates: ReadonlyMap<string, number>,
  matchersFor: (metric: string) => MetricQuery['matchers'],
  shared: Labels = {},
): readonly CounterRow[] {
  const byMetric = Map.groupBy(latest, ({ metric }) => metric)
  return types.flatMap((type) =>
    type.fields.flatMap((field): CounterRow[] => {
      const found: readonly (LatestSeries | undefined)[] = byMetric.get(field.metric) ?? [undefined]
      return found.map((series) => rowOf(type, field, series, rates, matchersFor(field.metric), shared))
    }),
  )
}

function rowOf(
  type: ListedType,
  field: ListedMetric,
  latest: LatestSeries | undefined,
  rates: ReadonlyMap<string, number>,
  matchers: MetricQuery['matchers'] = [],
  shared: Labels = {},
): CounterRow {
  // The page already names the device of the series.
  const said = new Set(['simulated', ...matchers.map(({ label }) => label)])
  const own = Object.entries(latest?.labels ?? ({} as Labels)).filter(
    ([label, value]) => !said.has(label) && shared[label] !== value,
  )
  const key = latest ? seriesKeyOf(latest) : `${type.name} ${field.name}`
  const all = [...matchers, ...own.map(([label, value]) => ({ label, op: '=' as const, value }))]
  return {
    key,
    type: type.name,
    field,
    name: [field.name, ...own.map(([label, value]) => `${label} ${value}`)].join(' '),
    latest,
    rate: isCounted(field) ? (rates.get(key) ?? Number.NaN) : Number.NaN,
    query: {
      metric: field.metric,
      function: firstFunction(field),
      ...(all.length > 0 ? { matchers: all } : {}),
    },
  }
}

/** Whether a row has no value to show. */
export function isAbsent({ latest }: CounterRow): boolean {
  return latest?.value == null
}

/** Why a row has no value: the device left, the source gave a reason, or no value arrived yet. */
export function absentWords({ latest }: CounterRow, goneWords: string): string {
  if (latest?.absent) return `Absent. ${asSentence(latest.absent)}`
  return goneWords || 'Absent. No value came yet.'
}
