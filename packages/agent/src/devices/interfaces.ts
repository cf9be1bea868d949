import { entityName, joinedNames, relatedKeys } from './claims.ts'
import type { EntityFact } from './facts.ts'
import type { World } from './world.ts'

/** Whether a port belongs to several functions that were merged into a bond. */
export function isBonded(port: EntityFact): boolean {
  return [entityName(port), ...joinedNames(port, 'netdev')].some((name) => name.includes('bond'))
}

/**
 * Interfaces of a port, as its records name them. A port that names none has the interfaces of its PCI device, if it is
 * the only port of that device.
 * A bond also has the interfaces of all its functions, because their RDMA devices disappeared into the bond.
 */
export function portInterfaces(world: World, port: EntityFact): string[] {
  const told = joinedNames(port, 'netdev')
  const pci = world.pciOfPort(port)
  const isAlone = world.portsOf(entityName(port)).length === 1
  const functions = isBonded(port)
    ? world.functionsOf(pci).filter((one) => one === pci || relatedKeys(one, 'nic').length === 0)
    : [told.length === 0 && isAlone ? pci : undefined]
  return [...new Set([...told, ...functions.flatMap((one) => joinedNames(one, 'netdev'))])]
}
