import { Link } from 'wouter'
import { Breakable } from '../../components/breakable.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import type { Absence } from './absences.ts'
import { listed } from './listed.ts'

/** Most names in a cell. */
const NAME_LIMIT_COUNT = 2

/** Unavailable values, with their series and the reason. */
export function AbsenceTable({
  absences,
  isReady,
}: {
  readonly absences: readonly Absence[]
  readonly isReady: boolean
}) {
  const page = usePageState()
  const count = absences.reduce((sum, { metrics }) => sum + metrics.length, 0)
  const columns: readonly TableColumn<Absence>[] = [
    {
      key: 'field',
      head: 'Field',
      kind: 'rowHead',
      look: 'mono is-wrapping',
      cell: ({ metrics }) => <Breakable name={listed(metrics, NAME_LIMIT_COUNT)} />,
    },
    { key: 'of', head: 'Of', look: 'is-wrapping', cell: ({ series }) => listed(series, NAME_LIMIT_COUNT) },
    { key: 'why', head: 'Why', isWide: true, look: 'is-quiet is-wrapping', cell: ({ reason }) => reason },
    {
      key: 'explain',
      head: <span className="visually-hidden">Explain</span>,
      cell: ({ metrics }) => (
        <Link href={page.hrefTo('/explain', { of: metrics[0] })} aria-label={`Explain ${metrics[0]}`}>
          Explain
        </Link>
      ),
    },
  ]
  return (
    <Panel
      id="absence-table"
      title="Absent values"
      isPresent={isReady}
      caption={isReady ? `${countText(count, 'field')} of hardware that is here` : ''}
    >
      {absences.length > 0 && (
        <DataTable
          label="Table of absent values"
          look="is-stacked absence-table"
          columns={columns}
          rows={absences}
          keyOf={({ metrics, reason }) => `${metrics[0]} ${reason}`}
        />
      )}
      {isReady && absences.length === 0 && <p className="panel-note">Every field of every series has a value.</p>}
    </Panel>
  )
}
