import type { ParamVersion } from '@sonde/sdk/api'
import { useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { undoChange } from '../../api/params.ts'
import { Panel } from '../../components/panel.tsx'
import { countText } from '../../format/number.ts'
import { formatDateTime } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

const SHOWN_COUNT = 20

/** The versions of the parameters: who changed what, and when. The last can be undone. */
export function HistoryPanel({
  history,
  mayChange,
}: {
  readonly history: readonly ParamVersion[]
  readonly mayChange: boolean
}) {
  const zone = usePageState().url.tz ?? 'utc'
  const [fault, setFault] = useState('')
  const undo = async (): Promise<void> => {
    setFault('')
    await undoChange().catch((error: ApiError) => setFault(error.message))
  }
  const more = mayChange && history.length > 0 && (
    <button type="button" className="button" onClick={() => void undo()}>
      Undo the last
    </button>
  )
  return (
    <Panel id="param-history" title="Changes" caption={countText(history.length, 'version')} more={more}>
      {fault !== '' && <p className="panel-note param-fault">{fault}</p>}
      {history.length === 0 && <p className="panel-note">No parameter was ever changed.</p>}
      <ol className="change-list">
        {history.slice(0, SHOWN_COUNT).map(({ version, timeMs, who, changes }) => (
          <li key={version} className="change">
            <span className="change-head">
              <span className="num">{formatDateTime(timeMs, zone)}</span> {who}
            </span>
            {changes.map(({ name, before, after }) => (
              <span key={name} className="change-line">
                <code>{name}</code> {before || 'default'} → <strong>{after || 'default'}</strong>
              </span>
            ))}
          </li>
        ))}
      </ol>
    </Panel>
  )
}
