import type { AuditEntry } from '@sonde/sdk/api'
import { useAudit } from '../../api/params.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { formatDateTime } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** The log of changes and logins, the newest first. */
export function AuditPanel() {
  const { data, error } = useAudit()
  const zone = usePageState().url.tz ?? 'utc'
  const entries = data?.entries ?? []
  const columns: readonly TableColumn<AuditEntry>[] = [
    { key: 'time', head: 'Time', kind: 'rowHead', look: 'num', cell: ({ timeMs }) => formatDateTime(timeMs, zone) },
    { key: 'action', head: 'Action', cell: ({ action }) => action },
    { key: 'who', head: 'Who', cell: ({ who, via }) => (who === '' ? 'unknown' : `${who} (${via})`) },
    { key: 'from', head: 'From', look: 'mono', cell: ({ from }) => (from === '' ? 'this machine' : from) },
    { key: 'what', head: 'What', isWide: true, look: 'is-wrapping', cell: whatWords },
  ]
  return (
    <Panel id="audit" title="Log of changes" caption={data ? countText(entries.length, 'entry', 'entries') : ''}>
      {error && !data && <p className="panel-note">{error.message}</p>}
      {data && entries.length === 0 && <p className="panel-note">Nobody has logged in or changed anything.</p>}
      {entries.length > 0 && (
        <DataTable
          label="Table of the log of changes"
          look="is-stacked"
          columns={columns}
          rows={entries}
          keyOf={({ timeMs }, place) => `${timeMs} ${place}`}
          isBoxed
        />
      )}
    </Panel>
  )
}

function whatWords({ what, before, after }: AuditEntry): string {
  if (before === undefined) return after === undefined ? what : `${what}: ${after}`
  return `${what}: ${before || 'default'} → ${after || 'default'}`
}
