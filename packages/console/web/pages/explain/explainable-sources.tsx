import { Link } from 'wouter'
import { useSources } from '../../api/resources.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { usePageState } from '../../state/time-window.ts'
import { sourceState } from '../source-words.ts'

/** What can be walked at a click: the sources, those that do not read first. */
export function ExplainableSources() {
  const page = usePageState()
  const { data } = useSources()
  if (!data) return null
  const rows = data.sources.toSorted((a, b) => Number(a.state === 'reading') - Number(b.state === 'reading'))
  return (
    <section className="panel" aria-labelledby="explainable-sources">
      <header className="panel-head has-line">
        <h2 id="explainable-sources" className="panel-title">
          Sources
        </h2>
        <span className="panel-caption">those that do not read first</span>
      </header>
      <TableBox label="Table of sources to explain">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">State</th>
              <th scope="col" className="is-wide">
                Why
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, state, reason }) => (
              <tr key={name}>
                <th scope="row">
                  <Link href={page.hrefTo('/explain', { of: name })}>{name}</Link>
                </th>
                <td>
                  <StateMark {...sourceState(state)} />
                </td>
                <td className={reason ? 'is-quiet is-wrapping' : 'is-quiet is-empty'}>{reason || '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}
