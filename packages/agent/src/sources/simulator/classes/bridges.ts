import type { NodeClass, PciPlace } from './node-class.ts'

/** What is known of a GPU or NIC to find the bridges above it. */
export type BelowBridge = PciPlace & {
  readonly index: number
  readonly model: { readonly pcieGeneration: number }
}

/** A PCIe bridge of a node: a root port, or a port of a switch. */
export interface BridgePlace extends PciPlace {
  /** `upstream`: the port of a switch towards the root. `downstream`: one towards a device. */
  readonly kind: 'root' | 'upstream' | 'downstream'
  /** The best that its link can do. */
  readonly pcieGeneration: number
  /** GPUs and NICs that are reached through it, by index. */
  readonly gpus: readonly number[]
  readonly nics: readonly number[]
  /** Whether these are at the other end of its link; between a root port and a switch is a link of their own. */
  readonly endsAtDevice: boolean
}

/** Every bridge of a node, in the order of their addresses; it follows from the paths of its devices. */
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
