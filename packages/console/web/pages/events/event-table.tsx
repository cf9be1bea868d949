import type { TracebackEvent } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useToldSecond } from '../../api/stale.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { eventDevice } from './event-device.ts'
import { deviceWords, endSentence, eventState, keptWords, lastedWords, openFirst } from './event-words.ts'

/** One row an event, open ones first. */
export function EventTable({
  events,
  devices,
}: {
  readonly events: readonly TracebackEvent[]
  readonly devices: readonly DeviceInfo[]
}) {
  const nowMs = useToldSecond()
  const zone = usePageState().url.tz ?? 'utc'
  return (
    <TableBox label="Table of events">
      <table className="table is-stacked event-table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col" className="is-wide">
              Event
            </th>
            <th scope="col">Device</th>
            <th scope="col" className="is-number">
              Began, {zoneName(zone, nowMs)}
            </th>
            <th scope="col" className="is-number">
              Lasted
            </th>
            <th scope="col" className="is-number">
              Samples kept
            </th>
            <th scope="col" className="is-number">
              Left out
            </th>
          </tr>
        </thead>
        <tbody>
          {openFirst(events).map((event) => (
            <EventRow key={event.id} event={event} device={eventDevice(event, devices)} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function EventRow({
  event,
  device,
  nowMs,
}: {
  readonly event: TracebackEvent
  readonly device: DeviceInfo | undefined
  readonly nowMs: number
}) {
  const page = usePageState()
  return (
    <tr>
      <td>
        <StateMark {...eventState(event)} />
      </td>
      <td className="is-wrapping">
        <Link
          className="event-name"
          href={page.hrefTo(`/events/${event.id}`, { fromMs: undefined, toMs: undefined })}
          aria-label={`${event.rule}, event ${event.id}`}
        >
          {event.rule}
        </Link>
        <SimulatedMark of={{ simulated: event.isSimulated }} />
        <span className="hint-sentence">{sentencesOf(event)}</span>
      </td>
      <td>
        {device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : deviceWords(event.device)}
      </td>
      <td className="is-number" data-label="began">
        <DateAndTime atMs={event.startMs} />
      </td>
      <td className="is-number num" data-label="lasted">
        {lastedWords(event, nowMs)}
      </td>
      <td className="is-number num" data-label="kept">
        {keptWords(event)}
      </td>
      <td className={event.leftOut > 0 ? 'is-number num is-trouble' : 'is-number num is-empty'} data-label="left out">
        {groupThousands(String(event.leftOut))}
      </td>
    </tr>
  )
}

/** What the rule says, and how the event ended where it did not simply clear. */
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

/** The day has no tabular figures: they widen its hyphens. */
function DateAndTime({ atMs }: { readonly atMs: number }) {
  const [day, time] = formatDateTime(atMs, usePageState().url.tz ?? 'utc').split(' ')
  return (
    <>
      <span className="is-quiet">{day}</span> <span className="num">{time}</span>
    </>
  )
}
