import { InterfacePage } from '../interface/interface-page.tsx'
import { NicPage } from './nic-page.tsx'

const NIC_ID = /^(sim-)?nic-/
const NETDEV_ID = /^(sim-)?net-/

/** What stands below the fabric: a port of a NIC by its id, or an interface by its id or its plain name. */
export function PortPage({ name }: { readonly name: string }) {
  if (NIC_ID.test(name)) return <NicPage id={name} />
  return <InterfacePage device={name.replace(NETDEV_ID, '')} />
}
