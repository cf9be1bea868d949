import type { EntityRef } from '@sonde/sdk'
import type { Device } from './device.ts'
import type { NodeRef } from './world.ts'

/** What entities are found by: what their records are about, their interfaces and their PCI address. */
export class Places<D extends Pick<Device, 'about' | keyof NodeRef | 'goneMs' | 'netdevs' | 'address'>> {
  readonly #places = new Map<string, D>()

  /**
   * @param devices The first of them has what is at its address, and its interfaces; one that is there comes before one
   * that left.
   */
  constructor(devices: readonly D[]) {
    const isPresent = ({ goneMs }: D) => goneMs === undefined
    for (const device of [...devices.filter(isPresent), ...devices.filter((one) => !isPresent(one))]) {
      const { about, netdevs, address } = device
      const addresses = address === '' ? [] : [{ kind: 'pci', key: [address] }]
      const refs = [...shorter(about), ...netdevs.map((name) => ({ kind: 'netdev', key: [name] })), ...addresses]
      for (const ref of refs) {
        const place = placeOf(ref, device)
        if (!this.#places.has(place)) this.#places.set(place, device)
      }
    }
  }

  /** The entity of a node that something is about. */
  at(ref: EntityRef, node: NodeRef): D | undefined {
    return this.#places.get(placeOf(ref, node))
  }
}

/** A key, and what is left of it without its last parts: libraries of an adapter know it without its port. */
function shorter({ kind, key }: EntityRef): EntityRef[] {
  return key.map((_, place) => ({ kind, key: key.slice(0, key.length - place) }))
}

function placeOf({ kind, key }: EntityRef, { host, isSimulated }: NodeRef): string {
  return JSON.stringify([host, isSimulated, kind, ...key])
}
