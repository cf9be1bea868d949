import type { Matcher, MetricQuery } from '@sonde/sdk/api'
import { useMemo, useState } from 'react'
import { useSeriesOfMetric } from '../../api/resources.ts'
import { ComboInput } from '../../components/combo-input.tsx'
import { Icon } from '../../components/icon.tsx'
import { compareNames } from '../../format/names.ts'

const OPS: readonly (readonly [op: Matcher['op'], word: string])[] = [
  ['=', 'is'],
  ['!=', 'is not'],
  ['=~', 'matches'],
  ['!~', 'does not match'],
]

interface ConditionsProps {
  readonly query: MetricQuery
  readonly labels: readonly string[]
  readonly onChange: (query: MetricQuery) => void
}

/** Conditions on the labels of a signal. Suggests values from live series. */
export function Conditions({ query, labels, onChange }: ConditionsProps) {
  const [draft, setDraft] = useState<Matcher>()
  const matchers = query.matchers ?? []
  const write = (next: readonly Matcher[]): void => {
    const { matchers: _, ...rest } = query
    onChange(next.length > 0 ? { ...rest, matchers: next } : rest)
  }
  return (
    <span className="signal-conditions">
      {matchers.map((matcher, order) => (
        <Condition
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity except their position
          key={order}
          metric={query.metric}
          labels={labels}
          matcher={matcher}
          onChange={(next) => write(matchers.with(order, next))}
          onRemove={() => write(matchers.filter((_, other) => other !== order))}
        />
      ))}
      {draft ? (
        <Condition
          metric={query.metric}
          labels={labels}
          matcher={draft}
          onChange={(next) => {
            if (next.value === '') return setDraft(next)
            setDraft(undefined)
            write([...matchers, next])
          }}
          onRemove={() => setDraft(undefined)}
        />
      ) : (
        <button type="button" className="button" onClick={() => setDraft({ label: labels[0]!, op: '=', value: '' })}>
          <Icon name="plus" /> Condition
        </button>
      )}
    </span>
  )
}

function Condition({
  metric,
  labels,
  matcher,
  onChange,
  onRemove,
}: {
  readonly metric: string
  readonly labels: readonly string[]
  readonly matcher: Matcher
  readonly onChange: (matcher: Matcher) => void
  readonly onRemove: () => void
}) {
  const { data } = useSeriesOfMetric(metric)
  const options = useMemo(() => {
    const values = new Set(
      data?.series.map(({ labels: known }) => (Object.hasOwn(known, matcher.label) ? known[matcher.label]! : '')),
    )
    return [...values]
      .filter(Boolean)
      .sort(compareNames)
      .map((value) => ({ value }))
  }, [data, matcher.label])
  return (
    <span className="condition">
      <select
        className="input"
        aria-label="Label"
        value={matcher.label}
        onChange={(event) => onChange({ ...matcher, label: event.currentTarget.value })}
      >
        {[...new Set([...labels, matcher.label])].map((label) => (
          <option key={label}>{label}</option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Comparison"
        value={matcher.op}
        onChange={(event) => onChange({ ...matcher, op: event.currentTarget.value as Matcher['op'] })}
      >
        {OPS.map(([op, word]) => (
          <option key={op} value={op}>
            {word}
          </option>
        ))}
      </select>
      <ComboInput
        label="Value"
        className="condition-value"
        placeholder="value"
        value={matcher.value}
        options={options}
        onCommit={(value) => onChange({ ...matcher, value })}
      />
      <button type="button" className="button icon-button" aria-label="Remove the condition" onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  )
}
