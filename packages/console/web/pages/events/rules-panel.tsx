import type { EventsAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { titledDevices } from './event-device.ts'
import { nothingWords } from './event-words.ts'

/** Devices beyond these are counted. */
const DEVICE_LIMIT_COUNT = 4

/** The rules that watch, each with what it says and where. */
export function RulesPanel({
  rules,
  devices: known,
}: Pick<EventsAnswer, 'rules'> & { readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  return (
    <section className="panel" aria-labelledby="rules-panel">
      <header className="panel-head has-line">
        <h2 id="rules-panel" className="panel-title">
          Rules
        </h2>
        <span className="panel-caption">{rules.length === 0 ? 'none watches now' : 'that watch now'}</span>
      </header>
      {rules.length === 0 ? (
        <p className="panel-note">
          <code className="mono">traceback.rules</code> names the file of rules. Events that are kept stay.
        </p>
      ) : (
        <TableBox label="Table of rules">
          <table className="table is-stacked">
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col" className="is-wide">
                  Holds while
                </th>
                <th scope="col">Watches</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {rules.map(({ name, condition, devices, left }) => (
                <tr key={name}>
                  <th scope="row">
                    <Link href={page.hrefTo('/events', { rule: name })} aria-label={`Events of ${name}`}>
                      {name}
                    </Link>
                  </th>
                  <td className="is-wrapping">{condition}</td>
                  <td>{devices.length === 0 ? nothingWords(left, zone) : deviceList(devices, known)}</td>
                  <td>
                    <Link href={page.hrefTo('/explain', { of: `rule:${name}` })} aria-label={`Explain ${name}`}>
                      Explain
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function deviceList(devices: readonly string[], known: readonly DeviceInfo[]): string {
  if (devices.length <= DEVICE_LIMIT_COUNT)
    return titledDevices(devices, known)
      .map(([, title]) => title)
      .join(', ')
  return countOf(devices.length, 'device')
}
