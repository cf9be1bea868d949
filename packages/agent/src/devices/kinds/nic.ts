import { aboutOf, nameOf, textOf } from '../claims.ts'
import type { Fact } from '../facts.ts'
import { interfacesOf, isBonded } from '../interfaces.ts'
import { addressOf, type World } from '../world.ts'
import { compareNames, type DeviceMaker, type Draft, draftOf, isVirtual, seriesOf } from './draft.ts'

const NAMES = { kind: 'nic', prefix: 'nic' }

/** One NIC for each port of an RDMA device. */
export const nics: DeviceMaker = {
  ...NAMES,
  make(world) {
    const ports = world.defined('nic')
    const held = new Set(ports.filter(isPresent).flatMap((fact) => interfacesOf(world, fact)))
    return ports
      .map((fact) => nicOf(world, fact, held))
      .sort((a, b) => compareNames(a.id, b.id))
      .map((draft, index) => ({ ...draft, index }))
  },
}

function isPresent({ goneMs }: Fact): boolean {
  return goneMs === undefined
}

/** @param held Interfaces of the present ports. */
function nicOf(world: World, fact: Fact, held: ReadonlySet<string>): Draft {
  const [device = '', port = ''] = aboutOf(fact)?.key ?? []
  const pci = world.pciOfPort(fact)
  const interfaces = interfacesOf(world, fact)
  // After a renaming, an interface may already belong to another port. A port that left gives such an interface up.
  const netdevs = isPresent(fact) ? interfaces : interfaces.filter((name) => !held.has(name))
  return {
    ...draftOf(world, NAMES, `${device}-${port}`, { fact, pci, address: addressOf(fact) }),
    // A virtual function shares the PCI location of its physical function, and a bond serves the whole node.
    isRailed: !isVirtual(pci) && !isBonded(fact),
    name: world.portsOf(nameOf(fact)).length > 1 ? `${device} port ${port}` : device,
    netdevs,
    series: seriesOf({ pci, netdev: netdevs.flatMap((name) => world.netdevs.get(name) ?? [])[0] }),
    model: textOf(pci, 'model') || textOf(fact, 'model'),
  }
}
