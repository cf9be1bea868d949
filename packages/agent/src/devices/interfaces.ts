import { labelOf } from '@sonde/sdk'
import type { Fact } from './facts.ts'
import { textOf, type World, wordsOf } from './world.ts'

/** Whether a port is that of several functions which went up in one. */
export function isBonded(port: Fact): boolean {
  return [labelOf(port.labels, 'device'), ...wordsOf(port, 'netdevs')].some((name) => name.includes('bond'))
}

/**
 * Interfaces of a port: those that it tells. One that tells none has those of its PCI device, if it is the only port of
 * that. A bond has those of all functions that it is made of too: their RDMA devices went up in its own.
 */
export function interfacesOf(world: World, port: Fact): string[] {
  const told = wordsOf(port, 'netdevs')
  const pci = world.pciOfPort(port)
  const isAlone = world.portsOf(labelOf(port.labels, 'device')).length === 1
  const functions = isBonded(port)
    ? world.functionsOf(pci).filter((one) => one === pci || textOf(one, 'rdma_devices') === '')
    : [told.length === 0 && isAlone ? pci : undefined]
  return [...new Set([...told, ...functions.flatMap((one) => wordsOf(one, 'netdevs'))])]
}
