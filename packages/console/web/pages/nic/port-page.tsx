import { useDevices } from '../../api/devices.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { findDevices } from '../../devices/find-devices.ts'
import { InterfacePage } from '../interface/interface-page.tsx'
import { NicPage } from './nic-page.tsx'

const NIC_ID = /^(sim-)?nic-/
const NETDEV_ID = /^(sim-)?net-/

/** A page below the fabric page: a NIC port by id or by name and number, `mlx5_3/1`, or an interface by id or name. */
export function PortPage({ name }: { readonly name: string }) {
  if (NIC_ID.test(name) || name.includes('/')) return <NicPage id={name} />
  if (NETDEV_ID.test(name)) return <InterfacePage device={name.replace(NETDEV_ID, '')} />
  return <NamedPage name={name} />
}

/** The interface or port of a name. Interfaces come first, because their names are unique. */
function NamedPage({ name }: { readonly name: string }) {
  const { data, error } = useDevices()
  if (!data && !error) {
    return (
      <>
        <PageHead title={name} />
        <Outlines panels={9} waitsFor="the list of devices" />
      </>
    )
  }
  const devices = data?.devices ?? []
  const isInterface = devices.some(({ netdevs }) => netdevs?.includes(name))
  if (!isInterface && findDevices(devices, 'nic', name).length > 0) return <NicPage id={name} />
  return <InterfacePage device={name} />
}
