import type { Labels } from '@sonde/sdk'
import type { DeviceShare } from '@sonde/sdk/api'
import { entityName, entityOfFact, factNumber, factText } from '../claims.ts'
import type { Device } from '../device.ts'
import type { EntityFact } from '../facts.ts'
import type { World } from '../world.ts'

/** A device before its rail, pairs and switch are computed. */
export interface Draft extends Omit<Device, 'rail' | 'pairs' | 'switch' | 'relations'> {
  /** Position among the GPUs or NICs of the node. */
  readonly index: number
  /** Whether it may be in a rail. */
  readonly isRailed: boolean
}

/** Makes the devices of one kind. It combines the facts of the node with knowledge that only code has. */
export interface DeviceMaker {
  readonly kind: string
  /** Prefix of the ids. */
  readonly prefix: string
  /** @param before Devices of earlier kinds. Their parts do not become devices again. */
  make(world: World, before: readonly Draft[]): Draft[]
}

/**
 * Sources of a draft: the record that defines the device, the record of its PCI device, and its address if there is no
 * PCI record.
 */
export interface Origins {
  readonly fact: EntityFact
  readonly pci?: EntityFact | undefined
  readonly address?: string
}

/**
 * The properties that all kinds share. Identity is read from the device's record, location and link capacity from the
 * record of its PCI device.
 */
export function makeDraft(
  world: World,
  { kind, prefix }: Pick<DeviceMaker, 'kind' | 'prefix'>,
  name: string,
  { fact, pci, address = '' }: Origins,
): Draft {
  const { host, isSimulated } = world
  const { type, labels, source, goneMs, goneReason } = fact
  return {
    id: `${isSimulated ? 'sim-' : ''}${prefix}-${name}`,
    kind,
    isSimulated,
    host,
    goneMs,
    goneReason,
    labels,
    about: entityOfFact(fact) ?? { kind, key: [name] },
    type: type.name,
    source: source.id,
    address: pci === undefined ? address : entityName(pci),
    numaNode: factNumber(pci, 'numa_node') ?? null,
    socket: factNumber(pci, 'socket') ?? null,
    path: factText(pci, 'path').split('/').filter(Boolean),
    netdevs: [],
    index: 0,
    isRailed: false,
    name,
    series: knownSeries({ pci }),
    model: factText(pci, 'model'),
    share: boardShare(fact, pci),
    driver: factText(fact, 'driver') || factText(pci, 'driver'),
    limits: knownLimits({ pcie_bytes_per_s: linkLimit(world, pci) }),
  }
}

/**
 * In a VM, only the model shows that a function is virtual. Subfunctions are not PCI devices; the name of their driver
 * shows them.
 */
function boardShare(fact: EntityFact, pci: EntityFact | undefined): DeviceShare | null {
  if (factText(fact, 'driver').endsWith('.sf')) return 'subfunction'
  const isShare = isVirtual(pci) || factText(pci, 'model').endsWith('virtual function')
  return isShare ? 'virtual function' : null
}

/** Labels of other entities that are parts of a device, by kind. */
export function knownSeries(facts: Readonly<Record<string, EntityFact | undefined>>): Record<string, Labels> {
  const known = Object.entries(facts).flatMap(([kind, fact]) => (fact === undefined ? [] : [[kind, fact.labels]]))
  return Object.fromEntries(known)
}

/** Leaves out the limits that are undefined. */
export function knownLimits(limits: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const known = Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return Object.fromEntries(known)
}

/**
 * Highest bandwidth of a device's link: its own maximum, or that of the port above if it is lower. Unit: bytes per
 * second and direction.
 */
export function linkLimit(world: World, pci: EntityFact | undefined): number | undefined {
  const own = factNumber(pci, 'max_link_bandwidth_bytes_per_second')
  const above = factText(pci, 'path').split('/').at(-1) ?? ''
  const port = factNumber(world.pci.get(above), 'max_link_bandwidth_bytes_per_second')
  return own === undefined ? undefined : Math.min(own, port ?? own)
}

/** Whether a PCI device is a virtual function, which a VM can own. */
export function isVirtual(pci: EntityFact | undefined): boolean {
  return factText(pci, 'physical_function') !== ''
}

const NATURAL = new Intl.Collator('en', { numeric: true })

/** Order of names with numbers in them: mlx5_2 before mlx5_10. */
export function compareDeviceNames(a: string, b: string): number {
  return NATURAL.compare(a, b)
}
