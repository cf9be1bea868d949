import type { Device } from './device.ts'
import type { Draft } from './kinds/draft.ts'
import { groupIntoRails, switchPort } from './rails.ts'

/** A device before its relations are computed. */
export type PlacedDevice = Omit<Device, 'relations'>

/** Adds rails, pairs and switches to the devices of one node. */
export function placed(drafts: readonly Draft[]): PlacedDevice[] {
  const ends = drafts.filter(({ kind }) => kind === 'gpu' || kind === 'nic')
  const railed = withoutReplaced(ends.filter(({ isRailed }) => isRailed))
  const rails = groupIntoRails(
    railed.filter(({ kind }) => kind === 'gpu'),
    railed.filter(({ kind }) => kind === 'nic'),
  )
  const members = Map.groupBy(rails, ([, rail]) => rail)
  const users = new Map<string, number>()
  for (const { path } of ends) for (const bridge of path) users.set(bridge, (users.get(bridge) ?? 0) + 1)
  return drafts.map(({ index: _index, isRailed: _isRailed, ...device }): PlacedDevice => {
    const rail = rails.get(device.id) ?? null
    const own = device.kind === 'gpu' || device.kind === 'nic' ? 1 : 0
    return {
      ...device,
      rail,
      switch: switchPort(device.path, (bridge) => (users.get(bridge) ?? 0) > own),
      pairs: rail === null ? [] : (members.get(rail) ?? []).map(([id]) => id).filter((id) => id !== device.id),
    }
  })
}

/** A device that left keeps its rail, unless another device has its PCI location, as after a renaming. */
function withoutReplaced(devices: readonly Draft[]): Draft[] {
  const taken = new Set(devices.filter(({ goneMs }) => goneMs === undefined).map(pciPlaceKey))
  return devices.filter(
    (device) => device.goneMs === undefined || device.address === '' || !taken.has(pciPlaceKey(device)),
  )
}

function pciPlaceKey({ kind, address }: Draft): string {
  return `${kind} ${address}`
}
