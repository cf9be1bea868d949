import type { ReactNode } from 'react'
import { Link, Redirect } from 'wouter'
import { useSearch } from 'wouter/use-browser-location'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { devicePath } from '../../devices/device.ts'
import { findDevices } from '../../devices/find-devices.ts'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'

interface DeviceOfProps {
  /** The id or another name of the device. */
  readonly id: string
  /** The kind of device sought, and the page that lists such devices. */
  readonly sought: {
    /** Default: any kind without its own page. */
    readonly kind?: DeviceInfo['kind']
    readonly one: string
    readonly many: string
    readonly path: string
    readonly label: string
  }
  readonly children: (device: DeviceInfo, devices: readonly DeviceInfo[]) => ReactNode
}

/**
 * Shows the device of an address and rewrites the address to its id. Otherwise shows a placeholder, an error, or the
 * devices that share the name.
 */
export function DeviceOf({ id, sought, children }: DeviceOfProps) {
  const page = usePageState()
  const search = useSearch()
  const { data, error } = useDevices()
  const head = <Head id={id} sought={sought} />
  if (!data) {
    return (
      <>
        {head}
        {error ? (
          <Empty icon="critical" fact={`The ${sought.many} are not known.`}>
            {error.message}
          </Empty>
        ) : (
          <Outlines panels={6} waitsFor="the list of devices" />
        )}
      </>
    )
  }
  const found = findDevices(data.devices, sought.kind, id)
  const [device] = found
  if (device && found.length === 1) {
    if (device.id !== id) return <Redirect to={devicePath(device) + search} replace />
    return children(device, data.devices)
  }
  return (
    <>
      {head}
      {device ? (
        <Empty icon="info" fact={`${found.length} ${sought.many} are named ${id}.`}>
          <Choices devices={found} />
        </Empty>
      ) : (
        <Empty fact={`No ${sought.one} named ${id} is known here.`}>
          It is not among the {data.devices.length} devices of this node.{' '}
          <Link href={page.hrefTo(sought.path)}>{sought.label}</Link>
        </Empty>
      )}
    </>
  )
}

/** Head of the page while the device is unknown. */
function Head({ id, sought }: Pick<DeviceOfProps, 'id' | 'sought'>) {
  const page = usePageState()
  usePageTitle(id)
  return <PageHead title={id} parent={{ label: sought.label, href: page.hrefTo(sought.path) }} />
}

/** Devices that share a name, each with a unique title. */
function Choices({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  return devices.map((device, place) => (
    <span key={device.id}>
      {place > 0 && ', '}
      <Link href={page.hrefTo(devicePath(device))}>
        {device.labels.port === undefined ? device.name : `${device.name} port ${device.labels.port}`}
      </Link>
      {device.address && ` at ${device.address}`}
    </span>
  ))
}
