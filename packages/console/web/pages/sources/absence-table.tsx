import { Link } from 'wouter'
import { Breakable } from '../../components/breakable.tsx'
import { PresentCaption } from '../../components/present-caption.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import type { Absence } from './absences.ts'
import { listed } from './listed.ts'

/** Names that one cell has room for. */
const NAME_LIMIT_COUNT = 2

/** What cannot be had, of which series, and why. */
export function AbsenceTable({
  absences,
  isReady,
}: {
  readonly absences: readonly Absence[]
  readonly isReady: boolean
}) {
  const page = usePageState()
  const count = absences.reduce((sum, { metrics }) => sum + metrics.length, 0)
  return (
    <section className="panel" aria-labelledby="absence-table">
      <header className="panel-head has-line">
        <h2 id="absence-table" className="panel-title">
          Absent values
        </h2>
        {isReady && <PresentCaption>{`${countOf(count, 'field')} of hardware that is here`}</PresentCaption>}
      </header>
      {absences.length > 0 && (
        <TableBox label="Table of absent values">
          <table className="table is-stacked absence-table">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Of</th>
                <th scope="col" className="is-wide">
                  Why
                </th>
                <th scope="col">
                  <span className="visually-hidden">Explain</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {absences.map(({ reason, metrics, series }) => (
                <tr key={`${metrics[0]} ${reason}`}>
                  <th scope="row" className="mono is-wrapping">
                    <Breakable name={listed(metrics, NAME_LIMIT_COUNT)} />
                  </th>
                  <td className="is-wrapping">{listed(series, NAME_LIMIT_COUNT)}</td>
                  <td className="is-quiet is-wrapping">{reason}</td>
                  <td>
                    <Link href={page.hrefTo('/explain', { of: metrics[0] })} aria-label={`Explain ${metrics[0]}`}>
                      Explain
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      {isReady && absences.length === 0 && <p className="panel-note">Every field of every series has a value.</p>}
    </section>
  )
}
