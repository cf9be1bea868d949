import type { Holder } from '@sonde/sdk/internal'

/** The start or the end of a rule on a device. */
export interface RuleEdge {
  readonly rule: string
  readonly device: string
  /** Unit: nanoseconds of the host's monotonic clock. */
  readonly monoNs: bigint
  readonly errorNs: bigint
  readonly isStart: boolean
  /** An end that nobody saw. Default: false. */
  readonly isLost?: boolean
}

/** An edge that combinations take. */
export interface MemberEdge extends RuleEdge {
  /** The client whose records made it. Default: a source of the agent did. */
  readonly holder?: Holder
  /** What tells it from edges of other series that are about the same device. Default: the device. */
  readonly key?: string
}
