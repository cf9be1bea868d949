import type { QuotaHolder } from '@sonde/sdk/internal'

/** The start or the end of a rule on a device. */
export interface RuleEdge {
  readonly rule: string
  readonly device: string
  /** Unit: nanoseconds of the host's monotonic clock. */
  readonly monoNs: bigint
  readonly errorNs: bigint
  readonly isStart: boolean
  /** Whether the end was not observed because samples stopped. Default: false. */
  readonly isLost?: boolean
}

/** An edge for combinations. */
export interface MemberEdge extends RuleEdge {
  /** The client whose records caused it. Default: a source of the agent. */
  readonly holder?: QuotaHolder
  /** Distinguishes edges of several series of the same device. Default: the device. */
  readonly key?: string
}
