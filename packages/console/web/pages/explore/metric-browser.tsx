import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { useState } from 'react'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/empty.tsx'
import { Icon } from '../../components/icon.tsx'
import { MetricLink } from '../../components/metric-link.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { metricLabelNames } from '../../state/listed-metrics.ts'
import { usePageState } from '../../state/time-window.ts'
import { type MetricGroup, metricGroups } from './metric-groups.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * Lists all metrics while no signal is chosen, grouped by type with counts. A group opens at a click or if the filter
 * matches in it.
 */
export function MetricBrowser({ types }: { readonly types: readonly ListedType[] }) {
  const page = usePageState()
  const filter = page.url.q ?? ''
  const [opened, setOpened] = useState<ReadonlySet<string>>(NONE)
  const [closed, setClosed] = useState<ReadonlySet<string>>(NONE)
  const [toggled, setToggled] = filter.trim() === '' ? [opened, setOpened] : [closed, setClosed]
  const { groups, count, leftOutCount } = metricGroups(types, filter, toggled)
  const toggle = (name: string): void => setToggled((before) => before.symmetricDifference(new Set([name])))
  return (
    <Panel
      id="metric-browser"
      title="Metrics"
      caption={`${countText(count, 'metric')} are read here`}
      filter="Filter metrics"
    >
      {groups.length === 0 ? (
        <Empty fact={filter ? `Nothing matches "${filter}".` : 'No metric is read yet.'}>
          {filter ? `${countText(count, 'metric')} searched.` : 'The page Sources lists the missing sources.'}
        </Empty>
      ) : (
        <DataTable
          label="Table of metrics"
          look="is-stacked metric-table"
          columns={COLUMNS}
          groups={groups.map((group) => ({
            key: group.type.name,
            head: <GroupHead group={group} onToggle={() => toggle(group.type.name)} />,
            rows: group.shown.map((field) => ({ field, type: group.type })),
          }))}
          keyOf={({ field }) => field.metric}
        />
      )}
      {leftOutCount > 0 && (
        <p className="panel-note">{countText(leftOutCount, 'more metric')} match. Filter by more words to see them.</p>
      )}
    </Panel>
  )
}

interface MetricRow {
  readonly field: ListedMetric
  readonly type: ListedType
}

const COLUMNS: readonly TableColumn<MetricRow>[] = [
  { key: 'metric', head: 'Metric', kind: 'rowHead', look: 'mono', cell: ({ field }) => <MetricLink field={field} /> },
  { key: 'help', head: 'What it is', isWide: true, look: 'is-quiet is-wrapping', cell: ({ field }) => field.help },
  { key: 'unit', head: 'Unit', look: 'is-quiet', cell: ({ field }) => field.unit || '–' },
  { key: 'kind', head: 'Kind', look: 'is-quiet', cell: ({ field }) => field.role },
  { key: 'labels', head: 'Labels', look: 'is-quiet', cell: labelWords },
]

function labelWords({ field, type }: MetricRow): string {
  return metricLabelNames(type, field.metric).join(', ') || '–'
}

function GroupHead({
  group: { type, count, isOpen },
  onToggle,
}: {
  readonly group: MetricGroup
  readonly onToggle: () => void
}) {
  return (
    <button type="button" className="metric-group" aria-expanded={isOpen} onClick={onToggle}>
      <Icon name="chevron" /> {type.description}{' '}
      <span className="unit">
        {type.name} · {countText(count, 'metric')}
        {!type.live && ' · not reported now, the store has it'}
      </span>
    </button>
  )
}
