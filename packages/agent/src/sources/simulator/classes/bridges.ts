import type { NodeClass, PciPlace } from './node-class.ts'

/** Data of a GPU or NIC from which the bridges above it follow. */
export type BelowBridge = PciPlace & {
  readonly index: number
  readonly model: { readonly pcieGeneration: number }
}

/** A PCIe bridge of a node: a root port, or a port of a switch. */
export interface BridgePlace extends PciPlace {
  /** `upstream`: a switch port towards the root. `downstream`: a switch port towards a device. */
  readonly kind: 'root' | 'upstream' | 'downstream'
  /** Highest generation of its link. */
  readonly pcieGeneration: number
  /** GPUs and NICs below it, by index. */
  readonly gpus: readonly number[]
  readonly nics: readonly number[]
  /**
   * Whether these devices are at the other end of its link; a link between a root port and a switch ends at the switch.
   */
  readonly endsAtDevice: boolean
}

/** Every bridge of a node in the order of addresses, derived from the paths of its devices. */
export function bridgesOf({ gpus, nics }: NodeClass): BridgePlace[] {
  const addresses = new Set([...gpus, ...nics].flatMap(({ path }) => path))
  return [...addresses].sort().map((address) => {
    const reached = (devices: readonly BelowBridge[]) => devices.filter(({ path }) => path.includes(address))
    const below = [...reached(gpus), ...reached(nics)]
    const { path, numaNode } = below[0] as BelowBridge
    const depth = path.indexOf(address)
    return {
      address,
      path: path.slice(0, depth),
      numaNode,
      kind: depth === 0 ? 'root' : depth === 1 ? 'upstream' : 'downstream',
      pcieGeneration: Math.max(...below.map(({ model }) => model.pcieGeneration)),
      gpus: reached(gpus).map(({ index }) => index),
      nics: reached(nics).map(({ index }) => index),
      endsAtDevice: depth === path.length - 1,
    }
  })
}
