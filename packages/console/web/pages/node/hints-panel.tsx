import type { Hint, HintsAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import type { FrameRange } from '../../api/frame.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { placeWords, type SpokenMoment } from '../../devices/hint-words.ts'
import { countOf } from '../../format/number.ts'
import { zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { evidenceOf } from './evidence.ts'
import { hintNotes, hintRow, shownHints } from './hint-row.ts'

/** What rules see now and what ended within the last hour, or what they saw in a window that is over. */
export function HintsPanel({
  devices,
  window,
}: {
  readonly devices: readonly DeviceInfo[]
  /** Default: that of the page. */
  readonly window?: FrameRange | undefined
}) {
  const now = useMoment(window)
  const seen = useMomentHints(now)
  const moment = useSpokenMoment(now)
  const { data, error } = seen
  const { zone, tense } = moment
  if (!data) return error ? <NoRules reason={error.message} /> : null
  const { shown } = shownHints(seen)
  const { empty, notes } = hintNotes(seen, data, moment)
  const when = !now.isNow ? 'in this window' : `${tense === 'past' ? 'as last known' : 'now'}, and the last hour`
  return (
    <section className="panel" aria-labelledby="hints-panel">
      <header className="panel-head has-line">
        <h2 id="hints-panel" className="panel-title">
          Hints
        </h2>
        <span className="panel-caption is-whole">
          {seeingWords(data)} · {when}
        </span>
      </header>
      {shown.length === 0 ? (
        <p className="panel-note">{empty}</p>
      ) : (
        <TableBox label="Table of hints">
          <table className="table is-stacked hints-table">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col" className="is-wide">
                  What is seen
                </th>
                <th scope="col">Device</th>
                <th scope="col" className="is-number">
                  Began, {zoneName(zone, moment.nowMs)}
                </th>
                <th scope="col" className="is-number">
                  Lasted
                </th>
                <th scope="col">Evidence</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((hint) => (
                <HintRow key={hint.event} hint={hint} devices={devices} moment={moment} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      {notes && <p className="panel-note">{notes}</p>}
    </section>
  )
}

/** How many rules there are, and how many of them have a signal to look at. */
function seeingWords({ rules, blind }: HintsAnswer): string {
  if (blind.length === 0) return countOf(rules, 'rule')
  return `${rules - blind.length} of ${countOf(rules, 'rule')} have signals here`
}

function HintRow({
  hint,
  devices,
  moment,
}: {
  readonly hint: Hint
  readonly devices: readonly DeviceInfo[]
  readonly moment: SpokenMoment
}) {
  const page = usePageState()
  const { state, title, sentence, began, lasted } = hintRow(hint, moment)
  const device = devices.find(({ id }) => id === hint.device)
  return (
    <tr>
      <td>
        <StateMark {...state} />
      </td>
      <td className="is-wrapping">
        {title}
        <span className="hint-sentence">{sentence}</span>
      </td>
      <td>{device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : placeWords(hint)}</td>
      <td className="is-number num" data-label="began">
        {began}
      </td>
      <td className="is-number num" data-label="lasted">
        {lasted}
      </td>
      <td>
        <Link href={page.hrefTo('/explore', evidenceOf(hint, moment))} aria-label={`Explore the evidence of: ${title}`}>
          Explore
        </Link>
      </td>
    </tr>
  )
}

function NoRules({ reason }: { readonly reason: string }) {
  return (
    <section className="panel" aria-labelledby="hints-panel">
      <header className="panel-head has-line">
        <h2 id="hints-panel" className="panel-title">
          Hints
        </h2>
      </header>
      <p className="panel-note">Not known. {reason}</p>
    </section>
  )
}
