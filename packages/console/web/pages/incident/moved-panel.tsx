import type { IncidentAnswer, MovedSignal } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useMoved } from '../../api/incidents.ts'
import { Breakable } from '../../components/breakable.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { placeTitle } from '../incidents/incident-words.ts'
import { changeWords, valueWords } from './change-words.ts'
import { useMetricTitles } from './metric-titles.ts'

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
  const titleOf = useMetricTitles()
  const helpOf = ({ metric }: MovedSignal) => titleOf(metric).help
  const around = { rangeMs: undefined, fromMs: Math.floor(window.fromMs), toMs: Math.ceil(window.toMs) }
  const columns: readonly TableColumn<MovedSignal>[] = [
    {
      key: 'signal',
      head: 'Signal',
      kind: 'rowHead',
      look: 'is-wrapping',
      title: helpOf,
      cell: (signal) => (
        <>
          <Link href={page.hrefTo('/explore', { ...around, sig: [signalOf(signal)] })}>
            {titleOf(signal.metric).title}
          </Link>
          <span className="signal-name">
            <Breakable name={signal.metric} />
          </span>
        </>
      ),
    },
    { key: 'device', head: 'Device', label: 'device', cell: (signal) => placeOf(signal, devices) },
    {
      key: 'before',
      head: 'Before',
      kind: 'number',
      label: 'before',
      cell: (signal) => valueWords(signal, signal.before, helpOf(signal)),
    },
    {
      key: 'after',
      head: 'After',
      kind: 'number',
      label: 'after',
      cell: (signal) => valueWords(signal, signal.after, helpOf(signal)),
    },
    {
      key: 'change',
      head: 'Change',
      kind: 'number',
      label: 'change',
      cell: (signal) => changeWords(signal, helpOf(signal)),
    },
  ]
  const lookedAt = data ? `of ${countText(data.examined, 'metric')}` : ''
  if (!data && !error) return null
  return (
    <Panel id="moved" title="What else moved" caption={lookedAt} className="incident-list">
      {!data && <p className="panel-note">Not known. {error?.message}</p>}
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
  const name = device === '' ? 'the node' : placeTitle(device, devices)
  return moreCount === 0 ? name : `${name} and ${moreCount} more`
}
