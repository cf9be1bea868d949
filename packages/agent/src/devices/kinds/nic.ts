import { entityName, entityOfFact, factText } from '../claims.ts'
import type { EntityFact } from '../facts.ts'
import { isBonded, portInterfaces } from '../interfaces.ts'
import { factAddress, type World } from '../world.ts'
import { compareDeviceNames, type DeviceMaker, type Draft, isVirtual, knownSeries, makeDraft } from './draft.ts'

const NAMES = { kind: 'nic', prefix: 'nic' }

/** One NIC for each port of an RDMA device. */
export const nics: DeviceMaker = {
  ...NAMES,
  make(world) {
    const ports = world.defined('nic')
    const held = new Set(ports.filter(isPresent).flatMap((fact) => portInterfaces(world, fact)))
    return ports
      .map((fact) => nicDraft(world, fact, held))
      .sort((a, b) => compareDeviceNames(a.id, b.id))
      .map((draft, index) => ({ ...draft, index }))
  },
}

function isPresent({ goneMs }: EntityFact): boolean {
  return goneMs === undefined
}

/** @param held Interfaces of the present ports. */
function nicDraft(world: World, fact: EntityFact, held: ReadonlySet<string>): Draft {
  const [device = '', port = ''] = entityOfFact(fact)?.key ?? []
  const pci = world.pciOfPort(fact)
  const interfaces = portInterfaces(world, fact)
  // After a renaming, an interface may already belong to another port. A port that left gives such an interface up.
  const netdevs = isPresent(fact) ? interfaces : interfaces.filter((name) => !held.has(name))
  return {
    ...makeDraft(world, NAMES, `${device}-${port}`, { fact, pci, address: factAddress(fact) }),
    // A virtual function shares the PCI location of its physical function, and a bond serves the whole node.
    isRailed: !isVirtual(pci) && !isBonded(fact),
    name: world.portsOf(entityName(fact)).length > 1 ? `${device} port ${port}` : device,
    netdevs,
    series: knownSeries({ pci, netdev: netdevs.flatMap((name) => world.netdevs.get(name) ?? [])[0] }),
    model: factText(pci, 'model') || factText(fact, 'model'),
  }
}
