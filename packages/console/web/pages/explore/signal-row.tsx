import type { ListedMetric, ListedType, MetricQuery, QueryFunction } from '@sonde/sdk/api'
import { ComboInput } from '../../components/combo-input.tsx'
import type { ComboOption } from '../../components/combo-options.ts'
import { Icon } from '../../components/icon.tsx'
import { metricLabelNames } from '../../state/listed-metrics.ts'
import { isCounted } from '../../state/signal.ts'
import { Conditions } from './conditions.tsx'

const COUNTER_FUNCTIONS: readonly QueryFunction[] = ['rate', 'increase', 'last']
const GAUGE_FUNCTIONS: readonly QueryFunction[] = ['last', 'avg', 'min', 'max']
const FUNCTION_WORDS: Readonly<Record<QueryFunction, string>> = {
  rate: 'rate, per second',
  increase: 'increase, per step',
  last: 'last value',
  avg: 'mean of the step',
  min: 'smallest of the step',
  max: 'largest of the step',
  quantile: 'quantile of the step',
}
const JOINS = [
  ['', 'each series'],
  ['sum', 'sum'],
  ['avg', 'mean'],
  ['min', 'smallest'],
  ['max', 'largest'],
  ['count', 'number'],
] as const

interface RowProps {
  readonly query: MetricQuery
  readonly type: ListedType | undefined
  readonly field: ListedMetric | undefined
  readonly metrics: readonly ComboOption[]
  /** Why this signal shows nothing; empty without a problem. */
  readonly problem: string
  readonly onMetric: (metric: string) => void
  readonly onChange: (query: MetricQuery) => void
  readonly onRemove: () => void
}

/** Controls of a signal: metric, function, conditions, and aggregation. */
export function SignalRow({ query, type, field, metrics, problem, onMetric, onChange, onRemove }: RowProps) {
  const functions = field && isCounted(field) ? COUNTER_FUNCTIONS : GAUGE_FUNCTIONS
  const labels = type === undefined ? [] : metricLabelNames(type, query.metric)
  const offered = functions.includes(query.function) ? functions : [query.function, ...functions]
  return (
    <li className="signal">
      <ComboInput
        label="Metric"
        className="signal-metric"
        value={query.metric}
        options={metrics}
        isStrict
        onCommit={onMetric}
      />
      <select
        className="input"
        aria-label="Function"
        value={query.function}
        onChange={(event) => onChange({ ...query, function: event.currentTarget.value as QueryFunction })}
      >
        {offered.map((name) => (
          <option key={name} value={name}>
            {FUNCTION_WORDS[name]}
          </option>
        ))}
      </select>
      {labels.length > 0 && (
        <>
          <Conditions query={query} labels={labels} onChange={onChange} />
          <Join query={query} labels={labels} onChange={onChange} />
        </>
      )}
      <button
        type="button"
        className="button icon-button signal-remove"
        aria-label={`Remove ${query.metric}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
      {problem && (
        <p className="signal-problem">
          <Icon name="warning" className="is-warning" /> {problem}
        </p>
      )}
    </li>
  )
}

function Join({
  query,
  labels,
  onChange,
}: {
  readonly query: MetricQuery
  readonly labels: readonly string[]
  readonly onChange: (query: MetricQuery) => void
}) {
  const { by, aggregate, ...rest } = query
  const joined = by === undefined ? '' : (aggregate ?? 'sum')
  return (
    <span className="signal-join">
      <select
        className="input"
        aria-label="Join series"
        value={joined}
        onChange={(event) => {
          const next = event.currentTarget.value as typeof joined
          onChange(next === '' ? rest : { ...rest, aggregate: next, by: by ?? [] })
        }}
      >
        {JOINS.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
      {by !== undefined && (
        <>
          <span className="unit">by</span>
          {labels.map((label) => (
            <button
              key={label}
              type="button"
              className="chip"
              aria-pressed={by.includes(label)}
              onClick={() =>
                onChange({ ...query, by: by.includes(label) ? by.filter((name) => name !== label) : [...by, label] })
              }
            >
              {label}
            </button>
          ))}
        </>
      )}
    </span>
  )
}
