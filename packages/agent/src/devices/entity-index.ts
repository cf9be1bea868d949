import type { EntityRef } from '@sonde/sdk/internal'
import type { Device } from './device.ts'
import type { NodeRef } from './world.ts'

/** Finds entities by the key of their records, by their interfaces and by their PCI address. */
export class EntityIndex<D extends Pick<Device, 'about' | keyof NodeRef | 'goneMs' | 'netdevs' | 'address'>> {
  readonly #places = new Map<string, D>()

  /**
   * @param devices Present devices come before devices that left. Among equals, the first device gets the address and
   * the interfaces.
   */
  constructor(devices: readonly D[]) {
    const isPresent = ({ goneMs }: D) => goneMs === undefined
    for (const device of [...devices.filter(isPresent), ...devices.filter((one) => !isPresent(one))]) {
      const { about, netdevs, address } = device
      const addresses = address === '' ? [] : [{ kind: 'pci', key: [address] }]
      const refs = [...shorter(about), ...netdevs.map((name) => ({ kind: 'netdev', key: [name] })), ...addresses]
      for (const ref of refs) {
        const place = placeKey(ref, device)
        if (!this.#places.has(place)) this.#places.set(place, device)
      }
    }
  }

  /** The entity of a node that `ref` names. */
  at(ref: EntityRef, node: NodeRef): D | undefined {
    return this.#places.get(placeKey(ref, node))
  }
}

/** A key and its prefixes: the libraries of an adapter know it without its port. */
function shorter({ kind, key }: EntityRef): EntityRef[] {
  return key.map((_, place) => ({ kind, key: key.slice(0, key.length - place) }))
}

function placeKey({ kind, key }: EntityRef, { host, isSimulated }: NodeRef): string {
  return JSON.stringify([host, isSimulated, kind, ...key])
}
