import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { BYTES, PERCENT } from '../../format/quantity.ts'
import { filesystemState } from './filesystem-state.ts'
import type { FilesystemRow } from './host-rows.ts'

const COLUMNS: readonly TableColumn<FilesystemRow>[] = [
  {
    key: 'mountpoint',
    head: 'Mounted at',
    kind: 'rowHead',
    isWide: true,
    look: 'mono is-wrapping is-path',
    cell: ({ mountpoint }) => mountpoint,
  },
  { key: 'state', head: 'State', cell: (row) => <StateMark {...filesystemState(row)} /> },
  { key: 'fstype', head: 'Kind', look: 'is-quiet', cell: ({ fstype }) => fstype },
  { key: 'size', head: 'Size', kind: 'number', cell: ({ size }) => formatQuantity(BYTES, size) },
  { key: 'available', head: 'Available', kind: 'number', cell: ({ available }) => formatQuantity(BYTES, available) },
  {
    key: 'share',
    head: 'of its size',
    kind: 'number',
    cell: ({ availableShare }) => formatQuantity(PERCENT, availableShare),
  },
  {
    key: 'files',
    head: 'Files free',
    kind: 'number',
    title: ({ filesFreeShare }) => (Number.isNaN(filesFreeShare) ? 'It has no limit of files.' : undefined),
    cell: ({ filesFreeShare }) => formatQuantity(PERCENT, filesFreeShare),
  },
]

/** The file systems of the host. */
export function FilesystemTable({ rows }: { readonly rows: readonly FilesystemRow[] }) {
  if (rows.length === 0) return null
  return (
    <Panel
      id="filesystem-table"
      title="File systems"
      caption={`${countText(rows.length, 'file system')}, the fullest first`}
    >
      <DataTable
        label="Table of file systems"
        look="has-first-fixed"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ mountpoint, fstype }) => `${fstype} ${mountpoint}`}
        isBoxed
      />
    </Panel>
  )
}
