import type { FailedRead } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Failed reads of a source, the latest first. */
export function FailedReadTable({ failures }: { readonly failures: readonly FailedRead[] }) {
  const zone = usePageState().url.tz ?? 'utc'
  const columns: readonly TableColumn<FailedRead>[] = [
    { key: 'place', head: 'Place', kind: 'rowHead', look: 'mono is-wrapping', cell: ({ place }) => place },
    {
      key: 'message',
      head: 'What came back',
      isWide: true,
      look: 'is-quiet is-wrapping',
      cell: ({ message }) => message,
    },
    {
      key: 'count',
      head: 'Times',
      kind: 'number',
      label: 'times',
      cell: ({ count }) => groupThousands(String(count)),
    },
    {
      key: 'last',
      head: `Last, ${zoneName(zone)}`,
      kind: 'number',
      cell: ({ lastMs }) => formatDateTime(lastMs, zone),
    },
  ]
  return (
    <Panel id="failed-reads" title="Failed reads" caption="the last places, since the start" isPresent>
      {failures.length === 0 ? (
        <p className="panel-note">No read has failed.</p>
      ) : (
        <DataTable
          label="Table of failed reads"
          look="is-stacked"
          columns={columns}
          rows={failures}
          keyOf={({ place }) => place}
        />
      )}
    </Panel>
  )
}
