import type { ListedSource } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useSources } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { usePageState } from '../../state/time-window.ts'
import { sourceState } from '../source-words.ts'

/** Links to explain each source. Sources that do not read come first. */
export function ExplainableSources() {
  const page = usePageState()
  const { data } = useSources()
  if (!data) return null
  const rows = data.sources.toSorted((a, b) => Number(a.state === 'reading') - Number(b.state === 'reading'))
  const columns: readonly TableColumn<ListedSource>[] = [
    {
      key: 'source',
      head: 'Source',
      kind: 'rowHead',
      cell: ({ name }) => <Link href={page.hrefTo('/explain', { of: name })}>{name}</Link>,
    },
    { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...sourceState(state)} /> },
    {
      key: 'why',
      head: 'Why',
      isWide: true,
      look: ({ reason }) => (reason ? 'is-quiet is-wrapping' : 'is-quiet is-empty'),
      cell: ({ reason }) => reason || '–',
    },
  ]
  return (
    <Panel id="explainable-sources" title="Sources" caption="those that do not read first">
      <DataTable
        label="Table of sources to explain"
        look="is-stacked"
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
      />
    </Panel>
  )
}
