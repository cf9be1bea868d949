import type { IncidentAnswer, IncidentPin } from '@sonde/sdk/api'
import { useState } from 'react'
import { pinIncident, unpinIncident } from '../../api/incidents.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { countText, formatQuantity } from '../../format/number.ts'
import { quantityOf } from '../../format/quantity.ts'
import { formatDateTime, formatSpanOfTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

const BYTES = quantityOf({ metric: '', unit: 'bytes', role: 'gauge', function: 'last' })

/** Whether a copy of the window is kept, and a button that makes or removes it. */
export function PinPanel({ answer: { incident, window, pin } }: { readonly answer: IncidentAnswer }) {
  const zone = usePageState().url.tz ?? 'utc'
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  const change = async (): Promise<void> => {
    setBusy(true)
    try {
      await (pin === undefined ? pinIncident : unpinIncident)(incident.id)
      setFault('')
    } catch (error) {
      setFault((error as Error).message)
    }
    setBusy(false)
  }
  const span = `${formatSpanOfTime(window.fromMs, window.toMs, zone)} ${zoneName(zone, window.toMs)}`
  return (
    <Panel
      id="pin"
      title="Records"
      more={
        <button type="button" className="button" disabled={isBusy} onClick={() => void change()}>
          {pin === undefined ? 'Pin' : 'Unpin'}
        </button>
      }
    >
      <p className="panel-note incident-pin">
        {pin === undefined ? (
          `The history removes the records of ${span} in time. A pin keeps a copy.`
        ) : (
          <>
            {pinWords(pin, zone)} The window is {span}. <code className="mono">{pin.command}</code>{' '}
            <CopyButton label="Copy command" text={() => pin.command} />
          </>
        )}
      </p>
      <p role="status" className="incident-note-fault incident-pin">
        {fault}
      </p>
    </Panel>
  )
}

function pinWords({ atMs, who, records, bytes, isCut }: IncidentPin, zone: TimeZoneChoice): string {
  const by = who === '' ? '' : ` by ${who}`
  const size = `${countText(records, 'record')}, ${formatQuantity(BYTES, bytes)}`
  const cut = isCut ? ' A limit left records out.' : ''
  return `Pinned${by} ${formatDateTime(atMs, zone)} ${zoneName(zone, atMs)}: ${size}.${cut}`
}
