import { type Labels, labelOf } from '@sonde/sdk'
import type { Fact } from './facts.ts'

/** The facts of one node, the real or the simulated one, by what they are looked up with. */
export interface World {
  readonly isSimulated: boolean
  readonly gpus: readonly Fact[]
  readonly ports: readonly Fact[]
  /** By name of the interface. */
  readonly netdevs: ReadonlyMap<string, Fact>
  readonly ethtool: ReadonlyMap<string, Fact>
  /** By address. */
  readonly pci: ReadonlyMap<string, Fact>
  /** The PCI device of an interface. */
  readonly pciOfNetdev: ReadonlyMap<string, Fact>
  /** All functions of the adapter that a PCI device is a function of. */
  functionsOf(pci: Fact | undefined): readonly Fact[]
  /** The PCI device of a port, where it is known. */
  pciOfPort(port: Fact): Fact | undefined
  /** All ports of an RDMA device. */
  portsOf(device: string): readonly Fact[]
}

/** Sorts facts into the real and the simulated world. */
export function worldsOf(facts: Iterable<Fact>): World[] {
  const all = [...facts]
  return [false, true].map((isSimulated) =>
    worldOf(
      all.filter(({ labels }) => isSimulatedOf(labels) === isSimulated),
      isSimulated,
    ),
  )
}

/** Whether labels are those of a simulated series. */
export function isSimulatedOf(labels: Labels): boolean {
  return labelOf(labels, 'simulated') === 'true'
}

function worldOf(facts: readonly Fact[], isSimulated: boolean): World {
  const of = (type: string) => facts.filter((fact) => fact.type === type)
  const byDevice = (some: readonly Fact[]) => new Map(some.map((fact) => [labelOf(fact.labels, 'device'), fact]))
  const pci = of('pci_device')
  const ports = of('rdma_port')
  const adapters = Map.groupBy(pci, adapterOf)
  const byNames = (field: string) =>
    new Map(presentLast(pci).flatMap((fact) => wordsOf(fact, field).map((name) => [name, fact] as const)))
  const byAddress = byDevice(pci)
  const ofRdma = byNames('rdma_devices')
  const ofDevice = Map.groupBy(ports, ({ labels }) => labelOf(labels, 'device'))
  return {
    isSimulated,
    gpus: of('nvml_gpu_info'),
    ports,
    netdevs: byDevice(of('netdev')),
    ethtool: byDevice([...of('ethtool_port'), ...of('ethtool_link')]),
    pci: byAddress,
    pciOfNetdev: byNames('netdevs'),
    functionsOf: (one) => (one === undefined ? [] : (adapters.get(adapterOf(one)) ?? [])),
    pciOfPort: (port) =>
      byAddress.get(textOf(port, 'address').toLowerCase()) ?? ofRdma.get(labelOf(port.labels, 'device')),
    portsOf: (device) => ofDevice.get(device) ?? [],
  }
}

/** Address of a PCI device without its function. */
function adapterOf({ labels }: Fact): string {
  return labelOf(labels, 'device').replace(/\.[^.]*$/, '')
}

/** What has left comes first, so that in a map what is there takes its place. */
export function presentLast(facts: readonly Fact[]): Fact[] {
  return [...facts.filter(({ goneMs }) => goneMs !== undefined), ...facts.filter(({ goneMs }) => goneMs === undefined)]
}

/** A text of a fact; empty where there is none. */
export function textOf(fact: Fact | undefined, field: string): string {
  const value = fact?.record[field]
  return typeof value === 'string' ? value : ''
}

/** A text that is several words. */
export function wordsOf(fact: Fact | undefined, field: string): string[] {
  return textOf(fact, field)
    .split(' ')
    .filter((word) => word !== '')
}

/** A number of a fact; undefined where it is absent. */
export function numberOf(fact: Fact | undefined, field: string): number | undefined {
  const value = fact?.record[field]
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
