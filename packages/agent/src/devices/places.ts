import type { EntityRef } from '@sonde/sdk'
import type { Device } from './device.ts'

/** What entities are found by: what their records are about, their interfaces and their PCI address. */
export class Places<D extends Pick<Device, 'about' | 'isSimulated' | 'goneMs' | 'netdevs' | 'address'>> {
  readonly #places = new Map<string, D>()

  /**
   * @param devices The first of them has what is at its address, and its interfaces; one that is there comes before one
   * that left.
   */
  constructor(devices: readonly D[]) {
    const isPresent = ({ goneMs }: D) => goneMs === undefined
    for (const device of [...devices.filter(isPresent), ...devices.filter((one) => !isPresent(one))]) {
      const { about, isSimulated, netdevs, address } = device
      const addresses = address === '' ? [] : [{ kind: 'pci', key: [address] }]
      const refs = [...shorter(about), ...netdevs.map((name) => ({ kind: 'netdev', key: [name] })), ...addresses]
      for (const ref of refs) {
        const place = placeOf(ref, isSimulated)
        if (!this.#places.has(place)) this.#places.set(place, device)
      }
    }
  }

  /** The entity that something is about. */
  at(ref: EntityRef, isSimulated: boolean): D | undefined {
    return this.#places.get(placeOf(ref, isSimulated))
  }
}

/** A key, and what is left of it without its last parts: libraries of an adapter know it without its port. */
function shorter({ kind, key }: EntityRef): EntityRef[] {
  return key.map((_, place) => ({ kind, key: key.slice(0, key.length - place) }))
}

function placeOf({ kind, key }: EntityRef, isSimulated: boolean): string {
  return JSON.stringify([isSimulated, kind, ...key])
}
