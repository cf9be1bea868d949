import { joined, nameOf, related } from './claims.ts'
import type { Fact } from './facts.ts'
import type { World } from './world.ts'

/** Whether a port is that of several functions which went up in one. */
export function isBonded(port: Fact): boolean {
  return [nameOf(port), ...joined(port, 'netdev')].some((name) => name.includes('bond'))
}

/**
 * Interfaces of a port: those that it tells. One that tells none has those of its PCI device, if it is the only port of
 * that. A bond has those of all functions that it is made of too: their RDMA devices went up in its own.
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
