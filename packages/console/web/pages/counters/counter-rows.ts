import type { Labels, LatestSeries, ListedMetric, ListedType, MetricQuery } from '@sonde/sdk/api'
import { asSentence } from '../../format/words.ts'
import { firstFunction, isCounted } from '../../state/signal.ts'
import { seriesKeyOf } from './use-counter-rates.ts'

/** One row of a table of counters: a field of a series, or a field that no series has. */
export interface CounterRow {
  readonly key: string
  readonly type: string
  readonly field: ListedMetric
  /** Name with the labels that tell rows of one field apart: `rx_pause_total priority 3`. */
  readonly name: string
  readonly latest: LatestSeries | undefined
  readonly rate: number
  /** What the explorer opens. */
  readonly query: MetricQuery
}

/**
 * One row a field and series of some types. `matchersFor` gives the conditions that make a metric's series those of the
 * device, and `shared` are labels that its series have in common.
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
  // What a series is of, the page says already.
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

/** Why a row has no value: its device left, its source says why, or nothing came yet. */
export function absentWords({ latest }: CounterRow, goneWords: string): string {
  if (latest?.absent) return `Absent. ${asSentence(latest.absent)}`
  return goneWords || 'Absent. No value came yet.'
}
