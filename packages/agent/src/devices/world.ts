import type { Labels } from '@sonde/sdk'
import { labelOf } from '@sonde/sdk/internal'
import { entityName, entityOfFact, hostOfFact, joinedNames, relatedKeys } from './claims.ts'
import type { EntityFact } from './facts.ts'

/** Identifies a node. */
export interface NodeRef {
  /** Name of the host. */
  readonly host: string
  /** Whether it is the simulated node beside the real node of that host. */
  readonly isSimulated: boolean
}

/** The facts of one node, indexed for lookup. */
export interface World extends NodeRef {
  /** Whether another agent runs on the node. */
  readonly isElsewhere: boolean
  /** Kinds with at least one entity. */
  readonly kinds: readonly string[]
  /** Facts that define entities of a kind. */
  defined(kind: string): readonly EntityFact[]
  /** PCI devices by address. */
  readonly pci: ReadonlyMap<string, EntityFact>
  /** Interfaces by name. */
  readonly netdevs: ReadonlyMap<string, EntityFact>
  /** The PCI device of an interface. */
  readonly pciOfNetdev: ReadonlyMap<string, EntityFact>
  /** All functions of the adapter to which a PCI device belongs. */
  functionsOf(pci: EntityFact | undefined): readonly EntityFact[]
  /** The PCI device of a port, if it is known. */
  pciOfPort(port: EntityFact): EntityFact | undefined
  /** All ports of an RDMA device. */
  portsOf(device: string): readonly EntityFact[]
}

/** Sorts facts into nodes: the real node of this host, the simulated node, then nodes of other hosts by name. */
export function sortIntoWorlds(facts: Iterable<EntityFact>, here: string): World[] {
  const byHost = Map.groupBy(facts, (fact) => hostOfFact(fact, here))
  const others = [...byHost.keys()].filter((host) => host !== here).sort()
  return [here, ...others].flatMap((host) => {
    const bySimulated = Map.groupBy(byHost.get(host) ?? [], ({ labels }) => isSimulatedSeries(labels))
    return [false, true].map((isSimulated) => ({
      host,
      isElsewhere: host !== here,
      isSimulated,
      ...lookUps(bySimulated.get(isSimulated) ?? []),
    }))
  })
}

/** The node that a fact describes. */
export function nodeOfFact(fact: Pick<EntityFact, 'type' | 'labels' | 'source'>, here: string): NodeRef {
  return { host: hostOfFact(fact, here), isSimulated: isSimulatedSeries(fact.labels) }
}

/** Whether labels belong to a simulated series. */
export function isSimulatedSeries(labels: Labels): boolean {
  return labelOf(labels, 'simulated') === 'true'
}

function lookUps(facts: readonly EntityFact[]): Omit<World, keyof NodeRef | 'isElsewhere'> {
  const defining = facts.filter((fact) => fact.type.entity?.defines && entityOfFact(fact) !== undefined)
  const byKind = Map.groupBy(defining, ({ type }) => type.entity?.kind ?? '')
  const defined = (kind: string) => byKind.get(kind) ?? []
  const byName = (kind: string) => new Map(defined(kind).map((fact) => [entityName(fact), fact]))
  const adapters = Map.groupBy(defined('pci'), adapterAddress)
  const pciBy = (namesOf: (pci: EntityFact) => readonly string[]) =>
    new Map(presentLast(defined('pci')).flatMap((fact) => namesOf(fact).map((name) => [name, fact] as const)))
  const pci = byName('pci')
  const pciOfRdma = pciBy((fact) => relatedKeys(fact, 'nic').map(([device = '']) => device))
  const ports = Map.groupBy(defined('nic'), entityName)
  return {
    kinds: [...byKind.keys()],
    defined,
    pci,
    netdevs: byName('netdev'),
    pciOfNetdev: pciBy((fact) => joinedNames(fact, 'netdev')),
    functionsOf: (one) => (one === undefined ? [] : (adapters.get(adapterAddress(one)) ?? [])),
    pciOfPort: (port) => pci.get(factAddress(port)) ?? pciOfRdma.get(entityName(port)),
    portsOf: (device) => ports.get(device) ?? [],
  }
}

/** The PCI address that a fact names, in the spelling of sysfs; empty if it names none. */
export function factAddress(fact: EntityFact): string {
  return (joinedNames(fact, 'pci')[0] ?? '').toLowerCase()
}

/** Address of a PCI device without its function. */
function adapterAddress(pci: EntityFact): string {
  return entityName(pci).replace(/\.[^.]*$/, '')
}

/** Sorts facts that left before present facts, so that a map built from them keeps the present facts. */
export function presentLast(facts: readonly EntityFact[]): EntityFact[] {
  return [...facts.filter(({ goneMs }) => goneMs !== undefined), ...facts.filter(({ goneMs }) => goneMs === undefined)]
}
