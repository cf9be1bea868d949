import type { Incident } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useToldSecond } from '../../api/stale.ts'
import { DataTable } from '../../components/data-table.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { incidentPath } from '../../devices/incident-path.ts'
import { countText } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { eventDevice } from './event-device.ts'
import {
  incidentLasted,
  incidentPlace,
  incidentSentences,
  incidentState,
  pastSeverity,
  worstFirst,
} from './incident-words.ts'

/** One row per incident; open incidents come first, the worst of them first. */
export function IncidentTable({
  incidents,
  devices,
}: {
  readonly incidents: readonly Incident[]
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const nowMs = useToldSecond()
  const zone = page.url.tz ?? 'utc'
  const columns: readonly TableColumn<Incident>[] = [
    {
      key: 'state',
      head: 'State',
      cell: (incident) => (
        <>
          <StateMark {...incidentState(incident)} /> <span className="is-quiet">{pastSeverity(incident)}</span>
        </>
      ),
    },
    {
      key: 'incident',
      head: 'Incident',
      isWide: true,
      look: 'is-wrapping',
      cell: (incident) => (
        <>
          <Link
            className="incident-name"
            href={page.hrefTo(incidentPath(incident.id), { fromMs: undefined, toMs: undefined })}
          >
            {incident.title}
          </Link>
          <SimulatedMark of={{ simulated: incident.isSimulated }} />
          <span className="hint-sentence">{incidentSentences(incident)}</span>
        </>
      ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: (incident) => {
        const device = incident.event
          ? eventDevice(incident.event, devices)
          : devices.find(({ id }) => id === incident.device)
        const place = incidentPlace(incident, devices)
        return device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : place
      },
    },
    {
      key: 'affected',
      head: 'Affected',
      label: 'affected',
      look: ({ affected }) => (affected.length === 0 ? 'is-empty' : ''),
      cell: ({ affected }) => (affected.length === 0 ? '' : countText(affected.length, 'device')),
    },
    {
      key: 'began',
      head: `Began, ${zoneName(zone, nowMs)}`,
      kind: 'date',
      label: 'began',
      cell: ({ startMs }) => <DateAndTime atMs={startMs} />,
    },
    {
      key: 'lasted',
      head: 'Lasted',
      kind: 'number',
      label: 'lasted',
      cell: (incident) => incidentLasted(incident, nowMs),
    },
    {
      key: 'seen',
      head: 'Seen by',
      label: 'seen by',
      look: ({ acknowledged }) => (acknowledged ? '' : 'is-empty'),
      cell: ({ acknowledged }) => acknowledged && (acknowledged.who || 'somebody'),
    },
  ]
  return (
    <DataTable
      label="Table of incidents"
      look="is-stacked incident-table"
      columns={columns}
      rows={worstFirst(incidents)}
      keyOf={({ id }) => id}
    />
  )
}

/** The day has no tabular figures, because they widen hyphens. */
function DateAndTime({ atMs }: { readonly atMs: number }) {
  const [day, time] = formatDateTime(atMs, usePageState().url.tz ?? 'utc').split(' ')
  return (
    <>
      <span className="is-quiet">{day}</span> <span className="num">{time}</span>
    </>
  )
}
