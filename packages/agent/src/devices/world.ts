import { type Labels, labelOf } from '@sonde/sdk'
import { aboutOf, hostOf, joined, nameOf, related } from './claims.ts'
import type { Fact } from './facts.ts'

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
  defined(kind: string): readonly Fact[]
  /** PCI devices by address. */
  readonly pci: ReadonlyMap<string, Fact>
  /** Interfaces by name. */
  readonly netdevs: ReadonlyMap<string, Fact>
  /** The PCI device of an interface. */
  readonly pciOfNetdev: ReadonlyMap<string, Fact>
  /** All functions of the adapter to which a PCI device belongs. */
  functionsOf(pci: Fact | undefined): readonly Fact[]
  /** The PCI device of a port, if it is known. */
  pciOfPort(port: Fact): Fact | undefined
  /** All ports of an RDMA device. */
  portsOf(device: string): readonly Fact[]
}

/** Sorts facts into nodes: the real node of this host, the simulated node, then nodes of other hosts by name. */
export function worldsOf(facts: Iterable<Fact>, here: string): World[] {
  const byHost = Map.groupBy(facts, (fact) => hostOf(fact, here))
  const others = [...byHost.keys()].filter((host) => host !== here).sort()
  return [here, ...others].flatMap((host) => {
    const bySimulated = Map.groupBy(byHost.get(host) ?? [], ({ labels }) => isSimulatedOf(labels))
    return [false, true].map((isSimulated) => ({
      host,
      isElsewhere: host !== here,
      isSimulated,
      ...lookUps(bySimulated.get(isSimulated) ?? []),
    }))
  })
}

/** The node that a fact describes. */
export function nodeOf(fact: Pick<Fact, 'type' | 'labels' | 'source'>, here: string): NodeRef {
  return { host: hostOf(fact, here), isSimulated: isSimulatedOf(fact.labels) }
}

/** Whether labels belong to a simulated series. */
export function isSimulatedOf(labels: Labels): boolean {
  return labelOf(labels, 'simulated') === 'true'
}

function lookUps(facts: readonly Fact[]): Omit<World, keyof NodeRef | 'isElsewhere'> {
  const defining = facts.filter((fact) => fact.type.entity?.defines && aboutOf(fact) !== undefined)
  const byKind = Map.groupBy(defining, ({ type }) => type.entity?.kind ?? '')
  const defined = (kind: string) => byKind.get(kind) ?? []
  const byName = (kind: string) => new Map(defined(kind).map((fact) => [nameOf(fact), fact]))
  const adapters = Map.groupBy(defined('pci'), adapterOf)
  const pciBy = (namesOf: (pci: Fact) => readonly string[]) =>
    new Map(presentLast(defined('pci')).flatMap((fact) => namesOf(fact).map((name) => [name, fact] as const)))
  const pci = byName('pci')
  const pciOfRdma = pciBy((fact) => related(fact, 'nic').map(([device = '']) => device))
  const ports = Map.groupBy(defined('nic'), nameOf)
  return {
    kinds: [...byKind.keys()],
    defined,
    pci,
    netdevs: byName('netdev'),
    pciOfNetdev: pciBy((fact) => joined(fact, 'netdev')),
    functionsOf: (one) => (one === undefined ? [] : (adapters.get(adapterOf(one)) ?? [])),
    pciOfPort: (port) => pci.get(addressOf(port)) ?? pciOfRdma.get(nameOf(port)),
    portsOf: (device) => ports.get(device) ?? [],
  }
}

/** The PCI address that a fact names, in the spelling of sysfs; empty if it names none. */
export function addressOf(fact: Fact): string {
  return (joined(fact, 'pci')[0] ?? '').toLowerCase()
}

/** Address of a PCI device without its function. */
function adapterOf(pci: Fact): string {
  return nameOf(pci).replace(/\.[^.]*$/, '')
}

/** Sorts facts that left before present facts, so that a map built from them keeps the present facts. */
export function presentLast(facts: readonly Fact[]): Fact[] {
  return [...facts.filter(({ goneMs }) => goneMs !== undefined), ...facts.filter(({ goneMs }) => goneMs === undefined)]
}
