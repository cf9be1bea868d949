import type { ListedMetric, ListedType, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { ComboInput } from '../../components/combo-input.tsx'
import { metricsOfType } from '../../state/listed-metrics.ts'
import { firstFunction } from '../../state/signal.ts'
import { SignalRow } from './signal-row.tsx'

/** Most signals in an address. */
const SIGNAL_LIMIT_COUNT = 16

interface ListProps {
  readonly queries: readonly MetricQuery[]
  readonly types: readonly ListedType[]
  readonly problems: ReadonlyMap<MetricQuery, string>
  readonly onChange: (queries: readonly MetricQuery[]) => void
}

/** The chosen signals, and a field to add a signal. */
export function SignalList({ queries, types, problems, onChange }: ListProps) {
  const fields = useMemo(
    () =>
      new Map(types.flatMap((type) => metricsOfType(type).map((field) => [field.metric, { type, field }] as const))),
    [types],
  )
  const metrics = useMemo(
    () => [...fields.values()].map(({ field }) => ({ value: field.metric, note: field.help })),
    [fields],
  )
  const queryOf = (metric: string): MetricQuery => ({ metric, function: functionOf(fields.get(metric)?.field) })
  return (
    <section className="panel signals" aria-label="Signals">
      <ul>
        {queries.map((query, order) => (
          <SignalRow
            // biome-ignore lint/suspicious/noArrayIndexKey: signals have no identity except their position
            key={order}
            query={query}
            type={fields.get(query.metric)?.type}
            field={fields.get(query.metric)?.field}
            metrics={metrics}
            problem={problems.get(query) ?? ''}
            onMetric={(metric) => onChange(queries.with(order, queryOf(metric)))}
            onChange={(next) => onChange(queries.with(order, next))}
            onRemove={() => onChange(queries.filter((_, other) => other !== order))}
          />
        ))}
        {queries.length < SIGNAL_LIMIT_COUNT && (
          <li className="signal">
            <ComboInput
              label="Add a metric"
              className="signal-metric"
              placeholder="Add a metric: its name, or what it counts"
              value=""
              options={metrics}
              isStrict
              onCommit={(metric) => onChange([...queries, queryOf(metric)])}
            />
          </li>
        )}
      </ul>
    </section>
  )
}

function functionOf(field: ListedMetric | undefined): MetricQuery['function'] {
  return field ? firstFunction(field) : 'last'
}
