import { Link } from 'wouter'
import type { TypeInfo } from '../../api/types.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { compareNames } from '../../format/names.ts'
import { countOf } from '../../format/number.ts'
import { firstFunction, formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'

/** Everything that can be asked for, where nothing is asked for yet. */
export function MetricBrowser({ types }: { readonly types: readonly TypeInfo[] }) {
  const page = usePageState()
  const filter = (page.url.q ?? '').toLowerCase()
  const count = types.reduce((sum, { fields }) => sum + fields.length, 0)
  const groups = types
    .toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b)) || compareNames(a.name, b.name))
    .map((type) => ({
      type,
      fields: type.fields.filter(({ metric, help }) =>
        `${metric} ${help} ${type.description}`.toLowerCase().includes(filter),
      ),
    }))
    .filter(({ fields }) => fields.length > 0)
  return (
    <section className="panel" aria-labelledby="metric-browser">
      <header className="panel-head has-line is-centred">
        <h2 id="metric-browser" className="panel-title">
          Metrics
        </h2>
        <span className="panel-caption">{countOf(count, 'metric')} are read here</span>
        <FilterInput label="Filter metrics" />
      </header>
      {groups.length === 0 ? (
        <Empty fact={filter ? `Nothing matches "${page.url.q}".` : 'No metric is read yet.'}>
          {filter ? `${countOf(count, 'metric')} searched.` : 'The page Sources says what is missing.'}
        </Empty>
      ) : (
        <TableBox label="Table of metrics">
          <table className="table is-stacked metric-table">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col" className="is-wide">
                  What it is
                </th>
                <th scope="col">Unit</th>
                <th scope="col">Kind</th>
                <th scope="col">Labels</th>
              </tr>
            </thead>
            {groups.map(({ type, fields }) => (
              <tbody key={type.name}>
                <tr className="table-group">
                  <th scope="rowgroup" colSpan={5}>
                    {type.description} <span className="unit">{type.name}</span>
                  </th>
                </tr>
                {fields.map((field) => (
                  <tr key={field.metric}>
                    <th scope="row" className="mono">
                      <Link
                        href={page.hrefTo('/explore', {
                          sig: [formatSignal({ metric: field.metric, function: firstFunction(field) })],
                        })}
                      >
                        {field.metric}
                      </Link>
                    </th>
                    <td className="is-quiet is-wrapping">{field.help}</td>
                    <td className="is-quiet">{field.unit || '–'}</td>
                    <td className="is-quiet">{field.role}</td>
                    <td className="is-quiet">{type.labels.join(', ') || '–'}</td>
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </TableBox>
      )}
    </section>
  )
}

/** Whether a type is about Sonde itself; those stand last. */
function isOwn({ name }: TypeInfo): boolean {
  return name.startsWith('sonde_')
}
