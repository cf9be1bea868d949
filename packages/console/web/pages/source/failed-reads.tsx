import type { FailedRead } from '@sonde/sdk/api'
import { PresentCaption } from '../../components/present-caption.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Where the source could not read what is there, the latest first. */
export function FailedReads({ failures }: { readonly failures: readonly FailedRead[] }) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  return (
    <section className="panel" aria-labelledby="failed-reads">
      <header className="panel-head has-line">
        <h2 id="failed-reads" className="panel-title">
          Failed reads
        </h2>
        <PresentCaption>the last places, since the start</PresentCaption>
      </header>
      {failures.length === 0 ? (
        <p className="panel-note">No read has failed.</p>
      ) : (
        <TableBox label="Table of failed reads">
          <table className="table is-stacked">
            <thead>
              <tr>
                <th scope="col">Place</th>
                <th scope="col" className="is-wide">
                  What came back
                </th>
                <th scope="col" className="is-number">
                  Times
                </th>
                <th scope="col" className="is-number">
                  Last, {zoneName(zone)}
                </th>
              </tr>
            </thead>
            <tbody>
              {failures.map(({ place, message, count, lastMs }) => (
                <tr key={place}>
                  <th scope="row" className="mono is-wrapping">
                    {place}
                  </th>
                  <td className="is-quiet is-wrapping">{message}</td>
                  <td className="is-number num" data-label="times">
                    {groupThousands(String(count))}
                  </td>
                  <td className="is-number num">{formatDateTime(lastMs, zone)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}
