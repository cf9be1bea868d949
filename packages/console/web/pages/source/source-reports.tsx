import type { ListedType, SourceReport } from '@sonde/sdk/api'
import { useTypes } from '../../api/resources.ts'
import { MetricLink } from '../../components/metric-link.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'

/** What a source reports: its record types, and below each the documentation of its fields. */
export function SourceReports({ reports }: { readonly reports: readonly SourceReport[] }) {
  const { data } = useTypes()
  return (
    <section className="panel" aria-labelledby="source-reports">
      <header className="panel-head has-line">
        <h2 id="source-reports" className="panel-title">
          Record types
        </h2>
        <span className="panel-caption">what it reports; open one for its fields</span>
      </header>
      {reports.map((report) => (
        <Report key={report.name} report={report} type={data?.types.find(({ name }) => name === report.name)} />
      ))}
      {reports.length === 0 && <p className="panel-note">It reports the types of other sources.</p>}
    </section>
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
          {[labels.length > 0 && `by ${labels.join(', ')}`, type ? countOf(fields.length, 'field') : 'no record yet']
            .filter(Boolean)
            .join(' · ')}
        </span>
      </summary>
      {type ? (
        <FieldTable type={type} />
      ) : (
        <p className="panel-note">Its fields are known once a record of it has come.</p>
      )}
    </details>
  )
}

function FieldTable({ type }: { readonly type: ListedType }) {
  return (
    <TableBox label={`Fields of ${type.name}`}>
      <table className="table has-first-fixed is-compact">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Role</th>
            <th scope="col">Unit</th>
            <th scope="col" className="is-wide">
              What it is
            </th>
          </tr>
        </thead>
        <tbody>
          {type.fields.map((field) => (
            <tr key={field.metric}>
              <th scope="row" className="mono">
                <MetricLink field={field} />
              </th>
              <td className="is-quiet">{field.role}</td>
              <td className="is-quiet">{field.unit || '–'}</td>
              <td className="is-quiet is-wrapping">{field.help || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}
