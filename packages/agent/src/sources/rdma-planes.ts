import { type KernelFiles, ReadFailure } from './kernel-file.ts'
import { KernelText } from './kernel-text.ts'

/** Folder of all RDMA devices. */
const DEVICES = ['class', 'infiniband'] as const
/** Folder of the devices through which programs use RDMA; each names its RDMA device in `ibdev`. */
const VERBS = ['class', 'infiniband_verbs'] as const

/** Planes and the device of each: the name of the plane, then the name of the device whose port it belongs to. */
export type Planes = ReadonlyMap<string, string>

/**
 * Finds the planes among RDMA devices. A port of some adapters has several planes, and the kernel has a device of type
 * SMI for each. Such a device has the PCI device of another RDMA device, and no program can use it: nothing in
 * `infiniband_verbs` names it. The counters of the other device are those of the whole port, so a plane is no port of
 * its own. The rule follows the kernel's patches for such devices; no hardware has confirmed it.
 *
 * @param adapters The name of the PCI device, by RDMA device; undefined if there is none.
 * @param usable RDMA devices that `infiniband_verbs` names.
 */
export function planesAmong(adapters: ReadonlyMap<string, string | undefined>, usable: ReadonlySet<string>): Planes {
  const planes = new Map<string, string>()
  for (const [name, adapter] of adapters) {
    if (adapter === undefined || usable.has(name)) continue
    const [owner] = [...adapters].find(([other, its]) => its === adapter && usable.has(other)) ?? []
    if (owner !== undefined) planes.set(name, owner)
  }
  return planes
}

/** Reads which of the listed RDMA devices are planes. */
export function readPlanes(listed: readonly string[], sysfs: KernelFiles): Planes {
  const adapters = new Map<string, string | undefined>()
  for (const name of listed) {
    const adapter = sysfs.linkName(...DEVICES, name, 'device')
    adapters.set(name, adapter instanceof ReadFailure ? undefined : adapter)
  }
  const shared = [...adapters.values()].filter((adapter) => adapter !== undefined)
  // Most nodes have one RDMA device for each PCI device, so nothing more is read.
  if (new Set(shared).size === shared.length) return new Map()
  return planesAmong(adapters, usableDevices(sysfs))
}

/** Describes planes of one port, for people. */
export function planesText(planes: readonly string[], owner: string): string {
  const words = planes.length === 1 ? 'is a plane' : 'are planes'
  return `${planes.join(', ')} ${words} of the port of ${owner}, whose counters are those of the whole port`
}

/** Describes which of the given devices are planes, and which device to name instead; empty if none is. */
export function namedPlanesText(devices: readonly string[], planes: Planes): string {
  const byOwner = Map.groupBy(
    devices.filter((name) => planes.has(name)),
    (name) => planes.get(name) ?? '',
  )
  return [...byOwner].map(([owner, named]) => `${planesText(named, owner)}: name ${owner} instead`).join('; ')
}

function usableDevices(sysfs: KernelFiles): Set<string> {
  const listed = sysfs.list(...VERBS)
  const usable = new Set<string>()
  for (const name of listed instanceof ReadFailure ? [] : listed) {
    const file = sysfs.file(...VERBS, name, 'ibdev')
    const bytes = file.read()
    if (!(bytes instanceof ReadFailure)) usable.add(new KernelText(bytes).lineFrom(0).trim())
    file.close()
  }
  return usable
}
