import type { EventDeviceLookup } from './lookups.ts'

/** Nearness of the rest of the node. */
export const FAR = 2

/** How near another device is to the device of an event: 0 is itself, 1 belongs to it, 2 is the rest of the node. */
export function nearnessTo(eventDevice: string, devices: EventDeviceLookup): (id: string) => number {
  const own = eventDevice === '' ? undefined : devices.byId(eventDevice)
  const related = new Set([...(own?.pairs ?? []), ...(own?.relations ?? [])])
  const known = new Map<string, number>()
  const look = (id: string): number => {
    if (id !== '' && id === eventDevice) return 0
    if (own === undefined || id === '') return FAR
    const other = devices.byId(id)
    if (other === undefined || other.isSimulated !== own.isSimulated || other.host !== own.host) return FAR
    const isOfSame =
      related.has(id) ||
      other.pairs.includes(own.id) ||
      (own.rail !== null && other.rail === own.rail) ||
      (own.address !== '' && (other.address === own.address || own.path.includes(other.address))) ||
      other.netdevs.some((name) => own.netdevs.includes(name) || own.name === name)
    return isOfSame ? 1 : FAR
  }
  return (id) => {
    const near = known.get(id) ?? look(id)
    known.set(id, near)
    return near
  }
}
