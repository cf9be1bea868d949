import type { TracebackEvent } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useToldSecond } from '../../api/stale.ts'
import { DataTable } from '../../components/data-table.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { eventDevice } from './event-device.ts'
import { deviceWords, endSentence, eventState, keptWords, lastedWords, openFirst } from './event-words.ts'

/** One row per event; open events come first. */
export function EventTable({
  events,
  devices,
}: {
  readonly events: readonly TracebackEvent[]
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const nowMs = useToldSecond()
  const zone = page.url.tz ?? 'utc'
  const columns: readonly TableColumn<TracebackEvent>[] = [
    { key: 'state', head: 'State', cell: (event) => <StateMark {...eventState(event)} /> },
    {
      key: 'event',
      head: 'Event',
      isWide: true,
      look: 'is-wrapping',
      cell: (event) => (
        <>
          <Link
            className="event-name"
            href={page.hrefTo(`/events/${event.id}`, { fromMs: undefined, toMs: undefined })}
            aria-label={`${event.rule}, event ${event.id}`}
          >
            {event.rule}
          </Link>
          <SimulatedMark of={{ simulated: event.isSimulated }} />
          <span className="hint-sentence">{sentencesOf(event)}</span>
        </>
      ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: (event) => {
        const device = eventDevice(event, devices)
        if (!device) return deviceWords(event.device)
        return <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link>
      },
    },
    {
      key: 'began',
      head: `Began, ${zoneName(zone, nowMs)}`,
      kind: 'date',
      label: 'began',
      cell: ({ startMs }) => <DateAndTime atMs={startMs} />,
    },
    { key: 'lasted', head: 'Lasted', kind: 'number', label: 'lasted', cell: (event) => lastedWords(event, nowMs) },
    { key: 'kept', head: 'Samples kept', kind: 'number', label: 'kept', cell: keptWords },
    {
      key: 'leftOut',
      head: 'Left out',
      kind: 'number',
      label: 'left out',
      look: ({ leftOut }) => (leftOut > 0 ? 'is-trouble' : 'is-empty'),
      cell: ({ leftOut }) => groupThousands(String(leftOut)),
    },
  ]
  return (
    <DataTable
      label="Table of events"
      look="is-stacked event-table"
      columns={columns}
      rows={openFirst(events)}
      keyOf={({ id }) => id}
    />
  )
}

/** The sentence of the rule, and the end of the event unless it simply cleared. */
function sentencesOf(event: TracebackEvent): string {
  const { condition, end, parts = 1 } = event
  const isWhole = end === undefined || end === 'cleared'
  return [
    condition && (isWhole && parts === 1 ? condition : `${condition}.`),
    isWhole ? '' : endSentence(event),
    parts === 1 ? '' : `Kept in ${parts} parts.`,
  ]
    .filter(Boolean)
    .join(' ')
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
