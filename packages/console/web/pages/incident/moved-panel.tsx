import type { IncidentAnswer, MovedSignal } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useMoved } from '../../api/incidents.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { deviceTitle } from '../../devices/device.ts'
import { countText } from '../../format/number.ts'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { changeWords, valueWords } from './change-words.ts'

/** Other signals that moved when the incident began, the farthest first. */
export function MovedPanel({
  answer: { incident, window },
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const { data, error } = useMoved(incident.id)
  const around = { rangeMs: undefined, fromMs: Math.floor(window.fromMs), toMs: Math.ceil(window.toMs) }
  const columns: readonly TableColumn<MovedSignal>[] = [
    {
      key: 'signal',
      head: 'Signal',
      kind: 'rowHead',
      look: 'is-wrapping',
      cell: (signal) => (
        <Link href={page.hrefTo('/explore', { ...around, sig: [signalOf(signal)] })}>{signal.metric}</Link>
      ),
    },
    { key: 'device', head: 'Device', label: 'device', cell: (signal) => placeOf(signal, devices) },
    {
      key: 'before',
      head: 'Before',
      kind: 'number',
      label: 'before',
      cell: (signal) => valueWords(signal, signal.before),
    },
    { key: 'after', head: 'After', kind: 'number', label: 'after', cell: (signal) => valueWords(signal, signal.after) },
    { key: 'change', head: 'Change', kind: 'number', label: 'change', cell: changeWords },
  ]
  const lookedAt = data ? `of ${countText(data.examined, 'metric')}` : ''
  return (
    <Panel id="moved" title="What else moved" caption={lookedAt}>
      {!data && (
        <p className="panel-note">{error ? `Not known. ${error.message}` : 'Comparing a minute with before.'}</p>
      )}
      {data && data.signals.length === 0 && (
        <p className="panel-note">
          Nothing else moved in the minute after it began, compared with the two minutes before.
        </p>
      )}
      {data && data.signals.length > 0 && (
        <DataTable
          label="Table of signals that moved"
          look="is-stacked"
          columns={columns}
          rows={data.signals}
          keyOf={({ metric }) => metric}
        />
      )}
      {data && data.leftOut > 0 && (
        <p className="panel-note">{countText(data.leftOut, 'further metric')} were not looked at.</p>
      )}
    </Panel>
  )
}

/** The signal for all devices of its kind. */
function signalOf({ metric, function: fn }: MovedSignal): string {
  return formatSignal({ metric, function: fn })
}

function placeOf({ device, moreCount = 0 }: MovedSignal, devices: readonly DeviceInfo[]): string {
  const known = devices.find(({ id }) => id === device)
  const name = known ? deviceTitle(known) : device === '' ? 'the node' : device
  return moreCount === 0 ? name : `${name} and ${moreCount} more`
}
