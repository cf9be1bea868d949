import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { Sort } from '../../components/sort.ts'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { meansWords, type ReadSpan } from '../../devices/device-reading.ts'
import { ReadingWords } from '../../devices/reading-words.tsx'
import { countText, formatQuantity, pickUnit } from '../../format/number.ts'
import { BYTES_PER_SECOND, COUNT, PERCENT, SECONDS } from '../../format/quantity.ts'
import type { DiskRow } from './host-rows.ts'

const COLUMNS: readonly TableColumn<DiskRow>[] = [
  {
    key: 'disk',
    head: 'Disk',
    kind: 'rowHead',
    isWide: true,
    look: 'mono',
    cell: ({ disk }) => disk,
    sortKey: ({ disk }) => disk,
  },
  {
    key: 'busy',
    head: 'Busy %',
    kind: 'number',
    cell: ({ busy }) => <ReadingWords unit={pickUnit(PERCENT, 1)} reading={busy} />,
    sortKey: ({ busy }) => busy.value,
  },
  {
    key: 'read',
    head: 'Read',
    kind: 'number',
    cell: ({ read }) => formatQuantity(BYTES_PER_SECOND, read.value),
    sortKey: ({ read }) => read.value,
  },
  {
    key: 'written',
    head: 'Written',
    kind: 'number',
    cell: ({ written }) => formatQuantity(BYTES_PER_SECOND, written.value),
    sortKey: ({ written }) => written.value,
  },
  {
    key: 'readTime',
    head: 'Read time',
    kind: 'number',
    title: () => 'The mean of the reads that ended',
    cell: ({ readTime }) => formatQuantity(SECONDS, readTime),
    sortKey: ({ readTime }) => readTime,
  },
  {
    key: 'writeTime',
    head: 'Write time',
    kind: 'number',
    title: () => 'The mean of the writes that ended',
    cell: ({ writeTime }) => formatQuantity(SECONDS, writeTime),
    sortKey: ({ writeTime }) => writeTime,
  },
  {
    key: 'inFlight',
    head: 'In flight',
    kind: 'number',
    cell: ({ inFlight }) => formatQuantity(COUNT, inFlight),
    sortKey: ({ inFlight }) => inFlight,
  },
]

const BUSIEST_FIRST: Sort = { column: 'busy', direction: 'descending' }

/** The disks of the host. */
export function DiskTable({ rows, span }: { readonly rows: readonly DiskRow[]; readonly span: ReadSpan }) {
  const chosen = useChosenRows(rows, {
    columns: COLUMNS,
    fallback: BUSIEST_FIRST,
    wordsOf: ({ disk }) => disk,
    isIdle: (row) => row.isIdle,
    noun: ['disk', 'disks'],
  })
  if (rows.length === 0) return null
  return (
    <Panel
      id="disk-table"
      title="Disks"
      caption={`${countText(rows.length, 'disk')}, the busiest first; ${meansWords(span)}`}
    >
      <DataTable
        label="Table of disks"
        look="has-first-fixed"
        columns={COLUMNS}
        keyOf={({ disk }) => disk}
        isWindowed
        {...chosen}
      />
    </Panel>
  )
}
