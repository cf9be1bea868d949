import type { DeviceInfo } from '../../api/devices.ts'

/** An end of a link on the path from the root to a device. */
export interface PathEnd {
  readonly address: string
  /** `root port`, `switch, upstream`, `switch, downstream`, or the kind of the attached device. */
  readonly role: string
  /** The PCI device, if known. */
  readonly device: DeviceInfo | undefined
}

/** A PCIe link: the end towards the root and the end below it, or a single end if the other is unknown. */
export interface PathLink {
  readonly upper: PathEnd
  readonly lower: PathEnd | undefined
}

/** The links from the root to a device. The two sides of a switch are not a link. */
export function linksOf(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly PathLink[] {
  const { path = [], address = '' } = device
  const all = [...path, address]
  const byAddress = new Map(
    devices
      .filter(({ kind, simulated }) => kind === 'pci' && simulated === device.simulated)
      .map((candidate) => [candidate.address ?? '', candidate]),
  )
  const ends = all.map((place, depth): PathEnd => {
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

/** The GPUs or NICs at the address of a PCI device. */
export function ownersOf(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly DeviceInfo[] {
  return devices.filter(
    ({ kind, address, simulated }) =>
      kind !== 'pci' && address !== '' && address === device.address && simulated === device.simulated,
  )
}

/** GPUs and NICs on the same switch, without those at the address itself. */
export function pathSharers(device: DeviceInfo, devices: readonly DeviceInfo[]): readonly DeviceInfo[] {
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
