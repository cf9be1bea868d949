import { type Labels, labelOf } from '@sonde/sdk'
import { bandwidthOf, GIGATRANSFERS } from '../sources/pci/bandwidth.ts'
import type { Device, DeviceKind, DeviceShare, SeriesFamily } from './device.ts'
import type { Fact } from './facts.ts'
import { interfacesOf, isBonded } from './interfaces.ts'
import { modelWords } from './words.ts'
import { numberOf, presentLast, textOf, type World, wordsOf } from './world.ts'

/** A device before it is known what it belongs together with. */
export interface Draft extends Omit<Device, 'rail' | 'pairs' | 'switch'> {
  /** Place among the GPUs or NICs of the node. */
  readonly index: number
  /** Whether it may be in a rail at all. */
  readonly isRailed: boolean
}

/** The devices of one world, each id once. */
export function draftsOf(world: World): Draft[] {
  const gpus = gpusOf(world)
  const nics = nicsOf(world)
  const drafts = [...gpus, ...nics, ...netdevsOf(world, nics), ...pcisOf(world)]
  // Two series may claim one id, as when a GPU was replaced: what is there takes it, and of two the newer.
  const byId = new Map<string, Draft>()
  for (const draft of drafts) {
    const known = byId.get(draft.id)
    if (known === undefined || known.goneMs !== undefined || draft.goneMs === undefined) byId.set(draft.id, draft)
  }
  return [...byId.values()]
}

function gpusOf(world: World): Draft[] {
  const told = world.gpus.map((fact): Draft => {
    const number = labelOf(fact.labels, 'gpu')
    const address = textOf(fact, 'address').toLowerCase()
    const pci = world.pci.get(address)
    const slot = bandwidthOf(
      GIGATRANSFERS[(numberOf(fact, 'pcie_generation_max') ?? 0) - 1],
      numberOf(fact, 'pcie_width_max'),
    )
    return {
      ...draftOf(world, 'gpu', number, { fact, pci, address }),
      index: /^\d{1,6}$/.test(number) ? Number(number) : world.gpus.indexOf(fact),
      isRailed: true,
      name: `GPU ${number}`,
      model: modelWords(textOf(fact, 'model') || textOf(pci, 'model')),
      limits: limitsOf({
        power_watts: numberOf(fact, 'power_limit_watts'),
        memory_bytes: numberOf(fact, 'memory_bytes'),
        pcie_bytes_per_s: linkLimit(world, pci) ?? slot,
      }),
    }
  })
  return [...told, ...silentGpusOf(world, new Set(told.map(({ address }) => address)))].sort(
    (a, b) => a.index - b.index,
  )
}

/** GPUs of which only the bus tells, as without their driver. They are counted as NVML would count them: by address. */
function silentGpusOf(world: World, told: ReadonlySet<string>): Draft[] {
  const facts = [...world.pci]
    .filter(
      ([address, fact]) =>
        textOf(fact, 'class') === 'gpu' && textOf(fact, 'physical_function') === '' && !told.has(address),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return facts.map(([address, fact], index) => {
    const number = told.size === 0 ? String(index) : address
    return {
      ...draftOf(world, 'gpu', number, { fact, pci: fact, address }),
      index: told.size + index,
      isRailed: true,
      name: `GPU ${number}`,
      model: modelWords(textOf(fact, 'model')),
    }
  })
}

function nicsOf(world: World): Draft[] {
  const present = world.ports.filter(({ goneMs }) => goneMs === undefined)
  const held = new Set(present.flatMap((fact) => interfacesOf(world, fact)))
  return world.ports
    .map((fact): Draft => {
      const [device, port] = [labelOf(fact.labels, 'device'), labelOf(fact.labels, 'port')]
      const pci = world.pciOfPort(fact)
      const interfaces = interfacesOf(world, fact)
      // What left has nothing of what another has by now, as after a renaming.
      const netdevs = fact.goneMs === undefined ? interfaces : interfaces.filter((name) => !held.has(name))
      return {
        ...draftOf(world, 'nic', `${device}-${port}`, { fact, pci, address: textOf(fact, 'address').toLowerCase() }),
        // A virtual function shares the place of its physical one, and a bond serves the node, not a GPU.
        isRailed: textOf(pci, 'physical_function') === '' && !isBonded(fact),
        name: world.portsOf(device).length > 1 ? `${device} port ${port}` : device,
        netdevs,
        series: seriesOf({ pci, netdev: first(netdevs, world.netdevs), ethtool: first(netdevs, world.ethtool) }),
        model: textOf(pci, 'model') || textOf(fact, 'model'),
      }
    })
    .sort((a, b) => compareNames(a.id, b.id))
    .map((draft, index) => ({ ...draft, index }))
}

function first(names: readonly string[], facts: ReadonlyMap<string, Fact>): Fact | undefined {
  return names.flatMap((name) => facts.get(name) ?? [])[0]
}

/** Interfaces that no NIC has. */
function netdevsOf(world: World, nics: readonly Draft[]): Draft[] {
  const taken = new Set(nics.flatMap(({ netdevs }) => netdevs))
  return presentLast([...world.netdevs.values()])
    .filter(({ labels }) => !taken.has(labelOf(labels, 'device')))
    .map((fact): Draft => {
      const name = labelOf(fact.labels, 'device')
      const pci = world.pciOfNetdev.get(name)
      return {
        ...draftOf(world, 'netdev', name, { fact, pci, address: '' }),
        netdevs: [name],
        series: seriesOf({ pci, ethtool: world.ethtool.get(name) }),
      }
    })
    .sort((a, b) => compareNames(a.name, b.name))
}

function pcisOf(world: World): Draft[] {
  return [...world.pci]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, fact]) => ({
      ...draftOf(world, 'pci', address, { fact, pci: fact, address }),
      netdevs: wordsOf(fact, 'netdevs'),
      series: {},
      model:
        modelWords(textOf(fact, 'model')) || [textOf(fact, 'vendor'), textOf(fact, 'class')].filter(Boolean).join(' '),
    }))
}

const PREFIXES: Readonly<Record<DeviceKind, string>> = { gpu: 'gpu', nic: 'nic', netdev: 'net', pci: 'pci' }

/**
 * What every kind of device has: who it is by its own record, where it is and what its link can by that of its PCI
 * device. `address` holds where that is not known.
 */
function draftOf(
  world: World,
  kind: DeviceKind,
  name: string,
  { fact, pci, address }: { readonly fact: Fact; readonly pci: Fact | undefined; readonly address: string },
): Draft {
  const { isSimulated } = world
  return {
    id: `${isSimulated ? 'sim-' : ''}${PREFIXES[kind]}-${name}`,
    kind,
    isSimulated,
    goneMs: fact.goneMs,
    goneReason: fact.goneReason,
    labels: fact.labels,
    address: pci === undefined ? address : labelOf(pci.labels, 'device'),
    numaNode: numberOf(pci, 'numa_node') ?? null,
    path: textOf(pci, 'path').split('/').filter(Boolean),
    netdevs: [],
    index: 0,
    isRailed: false,
    name,
    series: seriesOf({ pci }),
    model: textOf(pci, 'model'),
    share: shareOf(fact, pci),
    driver: textOf(fact, 'driver') || textOf(pci, 'driver'),
    limits: limitsOf({ pcie_bytes_per_s: linkLimit(world, pci) }),
  }
}

/**
 * A VM sees that a function is a virtual one by its model alone. Subfunctions are no PCI devices; their driver is known
 * by its name.
 */
function shareOf(fact: Fact, pci: Fact | undefined): DeviceShare | null {
  if (textOf(fact, 'driver').endsWith('.sf')) return 'subfunction'
  const isVirtual = textOf(pci, 'physical_function') !== '' || textOf(pci, 'model').endsWith('virtual function')
  return isVirtual ? 'virtual function' : null
}

function seriesOf(
  facts: Readonly<Partial<Record<SeriesFamily, Fact | undefined>>>,
): Partial<Record<SeriesFamily, Labels>> {
  const known = Object.entries(facts).flatMap(([family, fact]) => (fact === undefined ? [] : [[family, fact.labels]]))
  return Object.fromEntries(known)
}

function limitsOf(limits: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const known = Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return Object.fromEntries(known)
}

/**
 * What the link of a device can carry at most: its own best, or that of the port above where it is less. Unit: bytes
 * per second and direction.
 */
function linkLimit(world: World, pci: Fact | undefined): number | undefined {
  const own = numberOf(pci, 'max_link_bandwidth_bytes')
  const above = textOf(pci, 'path').split('/').at(-1) ?? ''
  const port = numberOf(world.pci.get(above), 'max_link_bandwidth_bytes')
  return own === undefined ? undefined : Math.min(own, port ?? own)
}

const NATURAL = new Intl.Collator('en', { numeric: true })

/** Order of names with numbers in them: mlx5_2 before mlx5_10. */
function compareNames(a: string, b: string): number {
  return NATURAL.compare(a, b)
}
