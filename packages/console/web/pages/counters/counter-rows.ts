import type { Labels, LatestSeries, ListedMetric, ListedType, MetricQuery } from '@sonde/sdk/api'
import { asSentence } from '../../format/words.ts'
import { fieldMatchers } from '../../state/listed-metrics.ts'
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
      const ofField = byMetric.get(field.metric)?.filter(({ labels }) => isOfField(field, labels)) ?? []
      const found: readonly (LatestSeries | undefined)[] = ofField.length > 0 ? ofField : [undefined]
      return found.map((series) => rowOf(type, field, series, rates, matchersFor(field.metric), shared))
    }),
  )
}

/** Whether a series of the metric of a field is of this field. */
function isOfField({ labels = {} }: ListedMetric, ofSeries: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => ofSeries[name] === value)
}

function rowOf(
  type: ListedType,
  field: ListedMetric,
  latest: LatestSeries | undefined,
  rates: ReadonlyMap<string, number>,
  matchers: MetricQuery['matchers'] = [],
  shared: Labels = {},
): CounterRow {
  // The page already names the device of the series, and the name of the field its constant labels.
  const constant = fieldMatchers(field)
  const said = new Set(['simulated', ...[...matchers, ...constant].map(({ label }) => label)])
  const own = Object.entries(latest?.labels ?? ({} as Labels)).filter(
    ([label, value]) => !said.has(label) && shared[label] !== value,
  )
  const key = latest ? seriesKeyOf(latest) : `${type.name} ${field.name}`
  const all = [...matchers, ...constant, ...own.map(([label, value]) => ({ label, op: '=' as const, value }))]
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
