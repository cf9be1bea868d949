import type { EventAnswer } from '@sonde/sdk/api'
import { useDevices } from '../../api/devices.ts'
import { TableBox } from '../../components/table-box.tsx'
import { groupThousands } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { eventPlace } from '../events/event-device.ts'

/** Stretches of an event that its size left out: their lanes are hatched there. */
export function LeftOutPanel({ answer }: { readonly answer: EventAnswer }) {
  const { event, leftOut } = answer
  const { isSimulated } = event
  const devices = useDevices().data?.devices ?? []
  if (leftOut.length === 0) return null
  return (
    <section className="panel" aria-labelledby="left-out">
      <header className="panel-head has-line">
        <h2 id="left-out" className="panel-title">
          Left out
        </h2>
        <span className="panel-caption">for the size of the event</span>
      </header>
      <TableBox label="Table of what was left out">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">Samples of</th>
              <th scope="col">Device</th>
              <th scope="col" className="is-number">
                From
              </th>
              <th scope="col" className="is-number">
                To
              </th>
              <th scope="col" className="is-number">
                About
              </th>
            </tr>
          </thead>
          <tbody>
            {leftOut.map(({ source, type, device, fromMs, toMs, samples }) => (
              <tr key={`${source} ${type} ${device} ${fromMs}`}>
                <td>
                  {type} <span className="is-quiet">{source}</span>
                </td>
                <td data-label="device">{device === '' ? 'all' : eventPlace({ device, isSimulated }, devices)}</td>
                <td className="is-number num" data-label="from">
                  {sinceStart(fromMs - event.startMs)}
                </td>
                <td className="is-number num" data-label="to">
                  {sinceStart(toMs - event.startMs)}
                </td>
                <td className="is-number num" data-label="about">
                  {groupThousands(String(samples))} samples
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

function sinceStart(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${formatDuration(Math.abs(ms))}`
}
