/** A GPU or NIC with its location on the bus. */
export interface RailCandidate {
  readonly id: string
  /** Addresses of the bridges, starting at the root port. */
  readonly path: readonly string[]
  readonly numaNode: number | null
}

/** A GPU with its number. */
export interface RailGpu extends RailCandidate {
  readonly index: number
}

interface RailGroup {
  readonly gpus: readonly RailGpu[]
  readonly nics: readonly RailCandidate[]
}

/**
 * Groups GPUs and NICs into rails: devices with the closest common bridge belong together.
 * Bridges are visited from the leaves of the tree to its roots. Below each bridge, the GPUs and NICs without a rail
 * form rails: one for each device of the smaller group if the counts are multiples, otherwise one rail for all.
 * Devices without a common bridge belong together only if there is no choice: one GPU and one NIC on a NUMA node, or on
 * the whole node.
 * A rail has the lowest number of its GPUs. Both lists are in counting order. The result omits devices without a rail.
 */
export function groupIntoRails(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): ReadonlyMap<string, number> {
  const rails = new Map<string, number>()
  const join = ({ gpus, nics }: RailGroup) => {
    for (const rail of split(gpus, nics)) {
      const number = Math.min(...rail.gpus.map(({ index }) => index))
      for (const { id } of [...rail.gpus, ...rail.nics]) rails.set(id, number)
    }
  }
  const free = ({ id }: RailCandidate) => !rails.has(id)
  for (const bridge of bridgesFromTheEnds([...gpus, ...nics])) {
    const below = ({ path }: RailCandidate) => path.includes(bridge)
    join({ gpus: gpus.filter(below).filter(free), nics: nics.filter(below).filter(free) })
  }
  for (const group of withoutBridge(gpus, nics)) {
    if (group.gpus.every(free) && group.nics.every(free)) join(group)
  }
  return rails
}

/** Every bridge once, the deepest first. */
function bridgesFromTheEnds(devices: readonly RailCandidate[]): string[] {
  const depths = new Map<string, number>()
  for (const { path } of devices) for (const [depth, bridge] of path.entries()) depths.set(bridge, depth)
  return [...depths].sort(([, a], [, b]) => b - a).map(([bridge]) => bridge)
}

/**
 * One rail for each device of the smaller group, with equal shares of the other group; one rail for all if a remainder
 * is left.
 */
function split(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): RailGroup[] {
  const fewer = Math.min(gpus.length, nics.length)
  if (fewer === 0) return []
  if (gpus.length % fewer !== 0 || nics.length % fewer !== 0) return [{ gpus, nics }]
  const part = <T>(list: readonly T[], index: number): T[] => {
    const length = list.length / fewer
    return list.slice(index * length, (index + 1) * length)
  }
  return Array.from({ length: fewer }, (_, index) => ({ gpus: part(gpus, index), nics: part(nics, index) }))
}

/** Pairs of one GPU and one NIC that have no other choice. Both must know their PCI path. */
function withoutBridge(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): RailGroup[] {
  const known = (one: RailCandidate) => one.path.length > 0
  const nodes = [...new Set(gpus.flatMap(({ numaNode }) => numaNode ?? []))]
  const groups = nodes.map((node) => ({
    gpus: gpus.filter(({ numaNode }) => numaNode === node),
    nics: nics.filter(({ numaNode }) => numaNode === node),
  }))
  return [...groups, { gpus, nics }].filter((group) => {
    return group.gpus.length === 1 && group.nics.length === 1 && [...group.gpus, ...group.nics].every(known)
  })
}

/**
 * The upstream port of the switch above a device. Below the root port, switches are pairs of an upstream and a
 * downstream port. If there are several, the closest port that another device shares is returned, so that brackets join
 * devices that belong together. If none is shared, the closest is returned.
 */
export function switchPort(path: readonly string[], isShared: (bridge: string) => boolean): string | null {
  const upstream = path.filter((_, depth) => depth % 2 === 1 && depth < path.length - 1).reverse()
  return upstream.find(isShared) ?? upstream[0] ?? null
}
