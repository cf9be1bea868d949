import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { BYTES, PERCENT } from '../../format/quantity.ts'
import { filesystemState, isImage } from './filesystem-state.ts'
import { type FilesystemRow, fullness } from './host-rows.ts'

const COLUMNS: readonly TableColumn<FilesystemRow>[] = [
  {
    key: 'mountpoint',
    head: 'Mounted at',
    kind: 'rowHead',
    isWide: true,
    look: 'mono is-wrapping is-path',
    cell: ({ mountpoint }) => mountpoint,
    sortKey: ({ mountpoint }) => mountpoint,
  },
  {
    key: 'state',
    head: 'State',
    cell: (row) => <StateMark {...filesystemState(row)} />,
    // An image is full by nature.
    sortKey: (row) => sicknessKey(filesystemState(row).tone, isImage(row) ? 0 : fullness(row)),
  },
  { key: 'fstype', head: 'Kind', look: 'is-quiet', cell: ({ fstype }) => fstype, sortKey: ({ fstype }) => fstype },
  {
    key: 'size',
    head: 'Size',
    kind: 'number',
    cell: ({ size }) => formatQuantity(BYTES, size),
    sortKey: ({ size }) => size,
  },
  {
    key: 'available',
    head: 'Available',
    kind: 'number',
    cell: ({ available }) => formatQuantity(BYTES, available),
    sortKey: ({ available }) => available,
  },
  {
    key: 'share',
    head: 'Available share',
    kind: 'number',
    cell: ({ availableShare }) => formatQuantity(PERCENT, availableShare),
    sortKey: ({ availableShare }) => availableShare,
  },
  {
    key: 'files',
    head: 'Files free',
    kind: 'number',
    title: ({ filesFreeShare }) => (Number.isNaN(filesFreeShare) ? 'It has no limit of files.' : undefined),
    cell: ({ filesFreeShare }) => formatQuantity(PERCENT, filesFreeShare),
    sortKey: ({ filesFreeShare }) => filesFreeShare,
  },
]

/** The file systems of the host. */
export function FilesystemTable({ rows }: { readonly rows: readonly FilesystemRow[] }) {
  const chosen = useChosenRows(rows, {
    columns: COLUMNS,
    fallback: SICKEST_FIRST,
    wordsOf: ({ mountpoint, fstype }) => `${mountpoint} ${fstype}`,
  })
  if (rows.length === 0) return null
  return (
    <Panel
      id="filesystem-table"
      title="File systems"
      caption={`${countText(rows.length, 'file system')}, sickest first, then the fullest`}
    >
      <DataTable
        label="Table of file systems"
        look="has-first-fixed"
        columns={COLUMNS}
        keyOf={({ mountpoint, fstype }) => `${fstype} ${mountpoint}`}
        isWindowed
        {...chosen}
      />
    </Panel>
  )
}
