import type { ListedMetric, ListedType, SourceReport } from '@sonde/sdk/api'
import { useTypes } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { MetricLink } from '../../components/metric-link.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'

const FIELD_COLUMNS: readonly TableColumn<ListedMetric>[] = [
  { key: 'metric', head: 'Metric', kind: 'rowHead', look: 'mono', cell: (field) => <MetricLink field={field} /> },
  { key: 'role', head: 'Role', look: 'is-quiet', cell: ({ role }) => role },
  { key: 'unit', head: 'Unit', look: 'is-quiet', cell: ({ unit }) => unit || '–' },
  { key: 'help', head: 'What it is', isWide: true, look: 'is-quiet is-wrapping', cell: ({ help }) => help || '–' },
]

/** The record types of a source, each with the documentation of its fields. */
export function SourceReportTable({ reports }: { readonly reports: readonly SourceReport[] }) {
  const { data } = useTypes()
  return (
    <Panel id="source-reports" title="Record types" caption="what it reports; open one for its fields">
      {reports.map((report) => (
        <Report key={report.name} report={report} type={data?.types.find(({ name }) => name === report.name)} />
      ))}
      {reports.length === 0 && <p className="panel-note">It reports the types of other sources.</p>}
    </Panel>
  )
}

function Report({ report, type }: { readonly report: SourceReport; readonly type: ListedType | undefined }) {
  const { name, description, labels } = report
  const fields = type?.fields ?? []
  return (
    <details className="report">
      <summary>
        <span className="mono report-name">{name}</span>
        <span className="report-words">{description}</span>
        <span className="report-count num">
          {[labels.length > 0 && `by ${labels.join(', ')}`, type ? countText(fields.length, 'field') : 'no record yet']
            .filter(Boolean)
            .join(' · ')}
        </span>
      </summary>
      {type ? (
        <DataTable
          label={`Fields of ${type.name}`}
          look="has-first-fixed is-compact"
          columns={FIELD_COLUMNS}
          rows={type.fields}
          keyOf={({ name }) => name}
        />
      ) : (
        <p className="panel-note">Its fields are known after its first record.</p>
      )}
    </details>
  )
}
