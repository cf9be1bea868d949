import { joined, nameOf, related } from './claims.ts'
import type { Fact } from './facts.ts'
import type { World } from './world.ts'

/** Whether a port belongs to several functions that were merged into a bond. */
export function isBonded(port: Fact): boolean {
  return [nameOf(port), ...joined(port, 'netdev')].some((name) => name.includes('bond'))
}

/**
 * Interfaces of a port, as its records name them. A port that names none has the interfaces of its PCI device, if it is
 * the only port of that device.
 * A bond also has the interfaces of all its functions, because their RDMA devices disappeared into the bond.
 */
export function interfacesOf(world: World, port: Fact): string[] {
  const told = joined(port, 'netdev')
  const pci = world.pciOfPort(port)
  const isAlone = world.portsOf(nameOf(port)).length === 1
  const functions = isBonded(port)
    ? world.functionsOf(pci).filter((one) => one === pci || related(one, 'nic').length === 0)
    : [told.length === 0 && isAlone ? pci : undefined]
  return [...new Set([...told, ...functions.flatMap((one) => joined(one, 'netdev'))])]
}
