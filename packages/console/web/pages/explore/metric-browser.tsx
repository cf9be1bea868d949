import type { ListedType } from '@sonde/sdk/api'
import { useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { Icon } from '../../components/icon.tsx'
import { MetricLink } from '../../components/metric-link.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { type MetricGroup, metricGroups } from './metric-groups.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * Everything that can be asked for, where nothing is asked for yet: types with their counts, which open at a click or
 * where a filter finds something in them.
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
    <section className="panel" aria-labelledby="metric-browser">
      <header className="panel-head has-line is-centred">
        <h2 id="metric-browser" className="panel-title">
          Metrics
        </h2>
        <span className="panel-caption">{countOf(count, 'metric')} are read here</span>
        <FilterInput label="Filter metrics" />
      </header>
      {groups.length === 0 ? (
        <Empty fact={filter ? `Nothing matches "${filter}".` : 'No metric is read yet.'}>
          {filter ? `${countOf(count, 'metric')} searched.` : 'The page Sources says what is missing.'}
        </Empty>
      ) : (
        <TableBox label="Table of metrics">
          <table className="table is-stacked metric-table">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col" className="is-wide">
                  What it is
                </th>
                <th scope="col">Unit</th>
                <th scope="col">Kind</th>
                <th scope="col">Labels</th>
              </tr>
            </thead>
            {groups.map((group) => (
              <Group key={group.type.name} group={group} onToggle={() => toggle(group.type.name)} />
            ))}
          </table>
        </TableBox>
      )}
      {leftOutCount > 0 && (
        <p className="panel-note">{countOf(leftOutCount, 'more metric')} match. Filter by more words to see them.</p>
      )}
    </section>
  )
}

function Group({ group, onToggle }: { readonly group: MetricGroup; readonly onToggle: () => void }) {
  const { type, count, shown, isOpen } = group
  return (
    <tbody>
      <tr className="table-group">
        <th scope="rowgroup" colSpan={5}>
          <button type="button" className="metric-group" aria-expanded={isOpen} onClick={onToggle}>
            <Icon name="chevron" /> {type.description}{' '}
            <span className="unit">
              {type.name} · {countOf(count, 'metric')}
              {!type.live && ' · not reported now, the store has it'}
            </span>
          </button>
        </th>
      </tr>
      {shown.map((field) => (
        <tr key={field.metric}>
          <th scope="row" className="mono">
            <MetricLink field={field} />
          </th>
          <td className="is-quiet is-wrapping">{field.help}</td>
          <td className="is-quiet">{field.unit || '–'}</td>
          <td className="is-quiet">{field.role}</td>
          <td className="is-quiet">{type.labels.join(', ') || '–'}</td>
        </tr>
      ))}
    </tbody>
  )
}
