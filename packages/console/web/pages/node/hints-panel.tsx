import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { type Hint, useHints } from '../../api/hints.ts'
import { useTense, useToldSecond } from '../../api/stale.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { hintState } from '../../devices/hint-words.ts'
import { countOf } from '../../format/number.ts'
import { formatAge, formatClock, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { evidenceSignals } from './evidence.ts'

/** Ended hints beyond these are the oldest, and left out. */
const ENDED_LIMIT_COUNT = 12

/** What rules see now, and what ended within the last hour. */
export function HintsPanel({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  const { data, error } = useHints()
  const nowMs = useToldSecond()
  const tense = useTense()
  const zone = page.url.tz ?? 'utc'
  if (!data) return error ? <NoRules reason={error.message} /> : null
  const ended = data.ended.toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0)).slice(0, ENDED_LIMIT_COUNT)
  return (
    <section className="panel" aria-labelledby="hints-panel">
      <header className="panel-head has-line">
        <h2 id="hints-panel" className="panel-title">
          Hints
        </h2>
        <span className="panel-caption">
          {countOf(data.rules, 'rule')} · {tense === 'past' ? 'as last known' : 'now'}
          {ended.length > 0 && ', and the last hour'}
          {!page.isLive && ' · not of the window'}
        </span>
      </header>
      {data.hints.length + ended.length === 0 ? (
        <p className="panel-note">Nothing holds, and nothing did within the last hour.</p>
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
              {ended.map((hint) => (
                <HintRow key={`${hint.id} ${hint.endedMs}`} hint={hint} devices={devices} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function HintRow({ hint, devices }: { readonly hint: Hint; readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  const nowMs = useToldSecond()
  const zone = page.url.tz ?? 'utc'
  const state = hint.endedMs === undefined ? hintState(hint) : ({ tone: 'ok', word: 'Ended' } as const)
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
      <td className="is-number num" data-label="began">
        {formatClock(hint.sinceMs, zone)}
      </td>
      <td className="is-number num" data-label="lasted">
        {formatAge((hint.endedMs ?? nowMs) - hint.sinceMs)}
      </td>
      <td>
        <Link
          href={page.hrefTo('/explore', { sig: evidenceSignals(hint) })}
          aria-label={`Explore the evidence of: ${hint.title}`}
        >
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
