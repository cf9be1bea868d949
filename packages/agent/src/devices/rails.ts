/** A GPU or NIC, and where it is plugged in. */
export interface RailCandidate {
  readonly id: string
  /** Addresses of the bridges from the root port on. */
  readonly path: readonly string[]
  readonly numaNode: number | null
}

/** A GPU with the number that it goes by. */
export interface RailGpu extends RailCandidate {
  readonly index: number
}

interface Group {
  readonly gpus: readonly RailGpu[]
  readonly nics: readonly RailCandidate[]
}

/**
 * Which GPUs and NICs belong together: those with the closest bridge in common. Bridges are looked at from the ends of
 * the tree to its roots; below each, GPUs and NICs that are in no rail yet make rails, one for each of the fewer where
 * the numbers are multiples, else one for all. Devices without a bridge in common belong together only if there is
 * no choice: one GPU and one NIC on a NUMA node, or on the whole node. A rail has the lowest number of its GPUs.
 *
 * Both lists are in the order in which their devices are counted. What is in no rail is not in the answer.
 */
export function railsOf(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): ReadonlyMap<string, number> {
  const rails = new Map<string, number>()
  const join = ({ gpus, nics }: Group) => {
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

/** One rail for each of the fewer, with as many of the others each; all in one where that leaves a rest. */
function split(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): Group[] {
  const fewer = Math.min(gpus.length, nics.length)
  if (fewer === 0) return []
  if (gpus.length % fewer !== 0 || nics.length % fewer !== 0) return [{ gpus, nics }]
  const part = <T>(list: readonly T[], index: number): T[] => {
    const length = list.length / fewer
    return list.slice(index * length, (index + 1) * length)
  }
  return Array.from({ length: fewer }, (_, index) => ({ gpus: part(gpus, index), nics: part(nics, index) }))
}

/** One GPU and one NIC that can only belong to each other, where both say where they are. */
function withoutBridge(gpus: readonly RailGpu[], nics: readonly RailCandidate[]): Group[] {
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
 * The upstream port of the switch that a device hangs on. Below the root port, switches are pairs of an upstream and a
 * downstream port. Of several on the way it is the closest that another device shares, so that brackets join what
 * belongs together; where none is shared, the closest.
 */
export function switchOf(path: readonly string[], isShared: (bridge: string) => boolean): string | null {
  const upstream = path.filter((_, depth) => depth % 2 === 1 && depth < path.length - 1).reverse()
  return upstream.find(isShared) ?? upstream[0] ?? null
}
