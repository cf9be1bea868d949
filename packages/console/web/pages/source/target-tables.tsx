import type { DisputeStatus, TargetStatus } from '@sonde/sdk/api'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf, groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Rows of one table. */
const ROW_LIMIT_COUNT = 64

const STATES: Readonly<Record<TargetStatus['state'], { readonly tone: StateTone; readonly word: string }>> = {
  stopped: { tone: 'critical', word: 'Stopped' },
  failed: { tone: 'critical', word: 'Failed' },
  starting: { tone: 'info', word: 'Starting' },
  reading: { tone: 'ok', word: 'Reading' },
}
const ORDER = Object.keys(STATES)

/** The exporters that a source asks, those that need attention first, and what they claim of one another. */
export function TargetTables({ targets }: { readonly targets: readonly TargetStatus[] }) {
  const zone = usePageState().url.tz ?? 'utc'
  const disputes = targets.flatMap(({ target, disputes }) => disputes.map((dispute) => ({ ...dispute, target })))
  const count = targets.reduce((sum, { disputeCount }) => sum + disputeCount, 0)
  return (
    <>
      <Targets targets={targets} zone={zone} />
      {count > 0 && <Disputes disputes={disputes} count={count} zone={zone} />}
    </>
  )
}

type Zone = Parameters<typeof formatDateTime>[1]

function Targets({ targets, zone }: { readonly targets: readonly TargetStatus[]; readonly zone: Zone }) {
  const sorted = targets.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  return (
    <section className="panel" aria-labelledby="targets">
      <header className="panel-head has-line">
        <h2 id="targets" className="panel-title">
          Exporters
        </h2>
        <span className="panel-caption">{captionOf(targets.length)}</span>
      </header>
      <TableBox label="Table of exporters">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">State</th>
              <th scope="col" className="is-wide">
                Why
              </th>
              <th scope="col">Answers refused</th>
              <th scope="col" className="is-number">
                Since, {zoneName(zone)}
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, ROW_LIMIT_COUNT).map(({ target, state, reason, refused, sinceMs }) => (
              <tr key={target}>
                <th scope="row" className="mono is-wrapping">
                  {target}
                </th>
                <td>
                  <StateMark {...STATES[state]} />
                </td>
                <td className={`is-quiet is-wrapping ${reason === '' ? 'is-empty' : ''}`}>{reason || '–'}</td>
                <td
                  className={Object.keys(refused).length === 0 ? 'is-wrapping is-empty' : 'is-wrapping'}
                  data-label="refused"
                >
                  {refusedWords(refused)}
                </td>
                <td className="is-number is-row num" data-label="since">
                  {formatDateTime(sinceMs, zone)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

function captionOf(count: number): string {
  const all = countOf(count, 'address', 'addresses')
  return count > ROW_LIMIT_COUNT ? `${all}, the first ${ROW_LIMIT_COUNT} by state` : all
}

function refusedWords(refused: TargetStatus['refused']): string {
  const words = Object.entries(refused).map(
    ([reason, count]) => `${groupThousands(String(count))} ${reason.replaceAll('_', ' ')}`,
  )
  return words.join(', ') || '–'
}

function Disputes({
  disputes,
  count,
  zone,
}: {
  readonly disputes: readonly (DisputeStatus & Pick<TargetStatus, 'target'>)[]
  readonly count: number
  readonly zone: Zone
}) {
  return (
    <section className="panel" aria-labelledby="disputes">
      <header className="panel-head has-line">
        <h2 id="disputes" className="panel-title">
          Disputes
        </h2>
        <span className="panel-caption">
          {countOf(count, 'GPU or pod', 'GPUs or pods')} of which two tell; the first is believed
        </span>
      </header>
      <TableBox label="Table of disputes">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col" className="is-wide">
                What
              </th>
              <th scope="col">Told by, not believed</th>
              <th scope="col">Believed</th>
              <th scope="col">Which has</th>
              <th scope="col" className="is-number">
                Since, {zoneName(zone)}
              </th>
            </tr>
          </thead>
          <tbody>
            {disputes.slice(0, ROW_LIMIT_COUNT).map(({ subject, target, holder, key, sinceMs }) => (
              <tr key={`${target} ${subject}`}>
                <th scope="row" className="is-wrapping">
                  {subject}
                </th>
                <td className="mono is-wrapping" data-label="told by, not believed">
                  {target}
                </td>
                <td className="mono is-wrapping" data-label="believed">
                  {holder}
                </td>
                <td className="is-quiet is-wrapping" data-label="which has">
                  {key}
                </td>
                <td className="is-number is-row num" data-label="since">
                  {formatDateTime(sinceMs, zone)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}
