import type { ListedType } from '@sonde/sdk/api'
import { useNode } from '../../api/resources.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { recordTypes } from './metric-groups.ts'

/** Lists types with texts, values or events that no chart can show, with the command that prints them. */
export function RecordBrowser({
  types,
  leftOut,
}: {
  readonly types: readonly ListedType[]
  /** Number of types that the server left out. */
  readonly leftOut: number
}) {
  const { url } = usePageState()
  const { data: node } = useNode()
  const shown = recordTypes(types, url.q ?? '')
  if (shown.length === 0 && leftOut === 0) return null
  return (
    <Panel
      id="record-browser"
      title="Records"
      caption={`${countText(shown.length, 'type')} with texts or values that are no metrics`}
    >
      <DataTable
        label="Table of records"
        look="is-stacked record-table"
        columns={COLUMNS}
        rows={shown}
        keyOf={({ name }) => name}
      />
      {leftOut > 0 && (
        <p className="panel-note">
          {countText(leftOut, 'more type')} had no room in the list. {node?.command ?? 'sonde'} read --store prints them
          too.
        </p>
      )}
    </Panel>
  )
}

const COLUMNS: readonly TableColumn<ListedType>[] = [
  { key: 'type', head: 'Type', kind: 'rowHead', look: 'mono', cell: ({ name }) => name },
  {
    key: 'what',
    head: 'What it is',
    isWide: true,
    look: 'is-quiet is-wrapping',
    cell: ({ description }) => description,
  },
  {
    key: 'fields',
    head: 'Fields',
    look: 'is-quiet is-wrapping',
    cell: ({ labels, records }) => (records.length > 0 ? records.map(({ name }) => name) : labels).join(', ') || '–',
  },
  {
    key: 'command',
    head: 'Command that prints them',
    look: 'is-wrapping',
    cell: ({ read }) =>
      read ? (
        <span className="record-read">
          <code className="mono">{read}</code>
          <CopyButton label="Copy" text={() => read} />
        </span>
      ) : (
        'Not kept: the store is off.'
      ),
  },
]
