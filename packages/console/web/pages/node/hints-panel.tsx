import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { type Hint, useClosedHints, useHints } from '../../api/hints.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { hintState } from '../../devices/hint-words.ts'
import { countOf } from '../../format/number.ts'
import { formatAge, formatClock, zoneName } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { evidenceSignals } from './evidence.ts'

/** What rules see now, and what closed within the last hour while the page was open. */
export function HintsPanel({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  const { data, error } = useHints()
  const closed = useClosedHints()
  const nowMs = useSecond()
  const zone = page.url.tz ?? 'utc'
  if (!data) return error ? <NoRules reason={error.message} /> : null
  return (
    <section className="panel" aria-labelledby="hints-panel">
      <header className="panel-head has-line">
        <h2 id="hints-panel" className="panel-title">
          Hints
        </h2>
        <span className="panel-caption">
          {countOf(data.rules, 'rule')} · what holds now{closed.length > 0 && ', and what closed in the last hour'}
          {!page.isLive && ' · not of the window'}
        </span>
      </header>
      {data.hints.length + closed.length === 0 ? (
        <p className="panel-note">Nothing holds, and nothing closed since this page was opened.</p>
      ) : (
        <TableBox label="Table of hints">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col" className="is-wide">
                  What is seen
                </th>
                <th scope="col">Device</th>
                <th scope="col" className="is-number">
                  Began, {zoneName(zone, nowMs)}
                </th>
                <th scope="col" className="is-number">
                  Lasted
                </th>
                <th scope="col">Evidence</th>
              </tr>
            </thead>
            <tbody>
              {data.hints.map((hint) => (
                <HintRow key={hint.id} hint={hint} devices={devices} />
              ))}
              {closed.map(({ hint, closedMs }) => (
                <HintRow key={`${hint.id} ${closedMs}`} hint={hint} devices={devices} closedMs={closedMs} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function HintRow({
  hint,
  devices,
  closedMs,
}: {
  readonly hint: Hint
  readonly devices: readonly DeviceInfo[]
  readonly closedMs?: number
}) {
  const page = usePageState()
  const nowMs = useSecond()
  const zone = page.url.tz ?? 'utc'
  const state = closedMs === undefined ? hintState(hint) : ({ tone: 'ok', word: 'Closed' } as const)
  const device = devices.find(({ id }) => id === hint.device)
  return (
    <tr>
      <td>
        <StateMark {...state} />
      </td>
      <td className="is-wrapping">
        {hint.title}
        <span className="hint-sentence">{hint.sentence}</span>
      </td>
      <td>{device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : 'the node'}</td>
      <td className="is-number num">{formatClock(hint.sinceMs, zone)}</td>
      <td className="is-number num">{formatAge((closedMs ?? nowMs) - hint.sinceMs)}</td>
      <td>
        <Link href={page.hrefTo('/explore', { sig: evidenceSignals(hint) })} aria-label={`Evidence of: ${hint.title}`}>
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
