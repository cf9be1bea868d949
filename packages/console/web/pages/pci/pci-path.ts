import type { DeviceInfo } from '../../api/devices.ts'

/** One end of a link on the way from the root to a device. */
export interface LinkEnd {
  readonly address: string
  /** `root port`, `switch, upstream`, `switch, downstream`, or what hangs there. */
  readonly role: string
  /** The PCI device, where one is known. */
  readonly device: DeviceInfo | undefined
}

/** One PCIe link: the end towards the root, and the end below it; a single end where the other is not known. */
export interface PathLink {
  readonly upper: LinkEnd
  readonly lower: LinkEnd | undefined
}

/** The links from the root to a device. Between the two sides of a switch there is none. */
export function linksOf(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly PathLink[] {
  const { path = [], address = '' } = device
  const all = [...path, address]
  const byAddress = new Map(
    devices
      .filter(({ kind, simulated }) => kind === 'pci' && simulated === device.simulated)
      .map((candidate) => [candidate.address ?? '', candidate]),
  )
  const ends = all.map((place, depth): LinkEnd => {
    return { address: place, role: roleOf(depth, all.length), device: byAddress.get(place) }
  })
  const links: PathLink[] = []
  for (let at = 0; at < ends.length; at += 2) links.push({ upper: ends[at]!, lower: ends[at + 1] })
  return links
}

function roleOf(depth: number, count: number): string {
  if (depth === count - 1) return 'device'
  if (depth === 0) return 'root port'
  return depth % 2 === 1 ? 'switch, upstream' : 'switch, downstream'
}

/** The GPU or NIC that is at the address of a PCI device. */
export function ownersOf(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly DeviceInfo[] {
  return devices.filter(
    ({ kind, address, simulated }) =>
      kind !== 'pci' && address !== '' && address === device.address && simulated === device.simulated,
  )
}

/** GPUs and NICs that hang on the same switch, those at the address itself left out. */
export function sharersOf(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly DeviceInfo[] {
  const port = device.switch
  if (!port) return []
  return devices.filter(
    ({ kind, path = [], address, simulated }) =>
      (kind === 'gpu' || kind === 'nic') &&
      simulated === device.simulated &&
      address !== device.address &&
      path.includes(port),
  )
}
