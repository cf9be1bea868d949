import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { devicePath, deviceTitle, linkPath } from '../../devices/device.ts'
import { usePageState } from '../../state/time-window.ts'
import { deviceQuestion } from '../grafana/grafana-address.ts'
import { GrafanaLink } from '../grafana/grafana-link.tsx'

/** Links to the neighbouring devices, the PCIe link, and the page that explains the device. */
export function DeviceLinks({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const { data } = useDevices()
  const pairs = data?.devices.filter(({ id }) => device.pairs.includes(id)) ?? []
  const link = device.kind === 'pci' ? undefined : linkPath(device)
  return (
    <>
      {pairs.map((pair) => (
        <Link key={pair.id} className="button" href={page.hrefTo(devicePath(pair))}>
          {deviceTitle(pair)}
        </Link>
      ))}
      {link && (
        <Link className="button" href={page.hrefTo(link)}>
          PCIe link
        </Link>
      )}
      <Link className="button" href={page.hrefTo('/incidents', { device: device.id })}>
        Incidents
      </Link>
      <Link className="button" href={page.hrefTo('/explain', { of: device.id })}>
        Explain
      </Link>
      <GrafanaLink question={deviceQuestion(device)} />
    </>
  )
}
