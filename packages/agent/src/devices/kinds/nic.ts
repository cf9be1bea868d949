import { aboutOf, nameOf, textOf } from '../claims.ts'
import type { Fact } from '../facts.ts'
import { interfacesOf, isBonded } from '../interfaces.ts'
import { addressOf, type World } from '../world.ts'
import { compareNames, type DeviceMaker, type Draft, draftOf, isVirtual, seriesOf } from './draft.ts'

const NAMES = { kind: 'nic', prefix: 'nic' }

/** NICs, one a port of an RDMA device. */
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

/** @param held Interfaces of the ports that are there. */
function nicOf(world: World, fact: Fact, held: ReadonlySet<string>): Draft {
  const [device = '', port = ''] = aboutOf(fact)?.key ?? []
  const pci = world.pciOfPort(fact)
  const interfaces = interfacesOf(world, fact)
  // What left has nothing of what another has by now, as after a renaming.
  const netdevs = isPresent(fact) ? interfaces : interfaces.filter((name) => !held.has(name))
  return {
    ...draftOf(world, NAMES, `${device}-${port}`, { fact, pci, address: addressOf(fact) }),
    // A virtual function shares the place of its physical one, and a bond serves the node, not a GPU.
    isRailed: !isVirtual(pci) && !isBonded(fact),
    name: world.portsOf(nameOf(fact)).length > 1 ? `${device} port ${port}` : device,
    netdevs,
    series: seriesOf({ pci, netdev: netdevs.flatMap((name) => world.netdevs.get(name) ?? [])[0] }),
    model: textOf(pci, 'model') || textOf(fact, 'model'),
  }
}
