/** What a version is of. */
export type VersionKind = 'Sonde' | 'kernel' | 'GPU driver' | 'NIC driver' | 'DOCA' | 'firmware'

/** The version of a part of a node. */
export interface PartVersion {
  readonly of: VersionKind
  /** Model or name of the part, such as `MT4129` or `mlx5_core`; empty if a node has only one part of this kind. */
  readonly about: string
  readonly version: string
  /** Parts of the node with this version. */
  readonly count: number
}

/** What `GET /api/v1/versions` answers. */
export interface VersionsAnswer {
  readonly node: string
  /** Parts whose version is not known are left out. */
  readonly versions: readonly PartVersion[]
}

/**
 * How a version stands among those of all nodes: `common` most nodes have it, or no other node has such a part;
 * `minority` more nodes have another one; `split` as many nodes have another one.
 */
export type VersionStanding = 'common' | 'minority' | 'split'

/** The version of a part of a node, and how it stands among those of all nodes. */
export interface ListedVersion extends PartVersion {
  readonly standing: VersionStanding
}

/**
 * State of an agent, seen from the console. `asking`: it has not answered yet. `refused`: it does not accept the
 * console's login, or what it answers makes no sense.
 */
export type ReachState = 'asking' | 'reachable' | 'unreachable' | 'refused'

/** An agent of a console. Numbers that are not known are null. */
export interface ListedNode {
  /** Its name in addresses: `/nodes/NAME` and `/api/v1/nodes/NAME/…`. */
  readonly name: string
  /** Where it is. */
  readonly url: string
  /** How it calls itself; empty before its first answer. */
  readonly node: string
  readonly state: ReachState
  /** Since when it has this state. Unit: milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Why, as a sentence; empty if it is reachable. */
  readonly reason: string
  /** Its last answer; null before the first. Unit: milliseconds since the Unix epoch. */
  readonly answeredMs: number | null
  readonly startedMs: number | null
  /** Its hints that have not ended. */
  readonly hintCount: number | null
  /** The most severe of them; null if there is none. */
  readonly severity: 'critical' | 'warning' | 'notice' | null
  /** Its GPUs and NICs in words; empty if there are none. */
  readonly hardware: string
  readonly simulated: boolean
  /** As of its last answer. */
  readonly versions: readonly ListedVersion[]
}

/** What `GET /api/v1/nodes` answers. */
export interface NodesAnswer {
  readonly nowMs: number
  /** By name. */
  readonly nodes: readonly ListedNode[]
  /** Why agents may be missing, as sentences: a discovery file or name that cannot be read, or too many agents. */
  readonly faults: readonly string[]
}
