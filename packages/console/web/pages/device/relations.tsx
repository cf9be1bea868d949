import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { usePageState } from '../../state/time-window.ts'

/** Most relations named in a line. */
const NAMED_COUNT = 24

/** Links to the entities related to a device. Empty if there are none. */
export function Relations({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const { data } = useDevices()
  const ids = new Set(device.relations)
  const found = data?.devices.filter(({ id }) => ids.has(id)) ?? []
  if (found.length === 0) return null
  return (
    <p className="page-more">
      Related:{' '}
      {found.slice(0, NAMED_COUNT).map((other, place) => (
        <span key={other.id}>
          {place > 0 && ', '}
          <Link href={page.hrefTo(devicePath(other))}>{deviceTitle(other)}</Link>
        </span>
      ))}
      {found.length > NAMED_COUNT && ` and ${found.length - NAMED_COUNT} more`}.
    </p>
  )
}
