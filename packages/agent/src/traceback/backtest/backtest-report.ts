import type { TestedEvent } from './tested-rule.ts'

/** The result of one rule. */
export interface BacktestRule {
  readonly rule: string
  readonly condition: string
  readonly events: number
  /** Devices that had events. */
  readonly devices: number
  /** Unit: nanoseconds, for all events together. */
  readonly heldNs: bigint
  readonly longestNs: bigint
  /** Series that the rule was tested on; 0 for a combination. */
  readonly series: number
  readonly records: number
  /** Mean distance of the records of the densest series. Unit: nanoseconds. */
  readonly intervalNs?: bigint
  /** Why it was not tested, or why its events are not those of full rate. */
  readonly fault?: string
}

/** What rules would have found in stored records. */
export interface BacktestReport {
  readonly rules: readonly BacktestRule[]
  /** By start; of each rule the first 10 000. */
  readonly events: readonly TestedEvent[]
  readonly recordCount: number
  /** Times of the first and last record; undefined without records. Unit: nanoseconds since the Unix epoch. */
  readonly range: { readonly fromNs: bigint; readonly toNs: bigint } | undefined
  /** Records that were read a second time, or after a newer record of their series. */
  readonly repeatedCount: number
  /** Records that are more than an hour ahead of the clock. */
  readonly futureCount: number
  /** Records of series beyond the limit. */
  readonly refusedCount: number
}
