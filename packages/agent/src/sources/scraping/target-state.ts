import type { TargetStatus } from '@sonde/sdk/api'
import type { RefusalReason } from './refusal.ts'

type Disputed = { readonly listed: TargetStatus['disputes']; readonly count: number }

const UNDISPUTED: Disputed = { listed: [], count: 0 }

/** State of one exporter, kept across scrapes. */
export class TargetState {
  /** Replaced by a new object at every change. */
  status: TargetStatus

  constructor(target: string) {
    const common = { target, reason: '', sinceMs: Date.now(), refused: {}, disputes: [], disputeCount: 0 }
    this.status = { ...common, state: 'starting' }
  }

  /** Records that an answer was refused as a whole. */
  refuse(why: RefusalReason, state: TargetStatus['state'], reason: string): void {
    const { refused } = this.status
    this.status = { ...this.status, refused: { ...refused, [why]: (refused[why] ?? 0) + 1 } }
    this.settle(state, reason)
  }

  settle(state: TargetStatus['state'], reason: string, { listed, count }: Disputed = UNDISPUTED): void {
    const before = this.status
    if (before.state !== state) this.status = { ...this.status, state, sinceMs: Date.now() }
    if (before.reason !== reason) this.status = { ...this.status, reason }
    if (before.disputeCount !== count || !isSame(before.disputes, listed))
      this.status = { ...this.status, disputes: listed, disputeCount: count }
  }
}

function isSame(disputes: TargetStatus['disputes'], others: TargetStatus['disputes']): boolean {
  return (
    disputes.length === others.length &&
    disputes.every((one, i) => {
      const other = others[i]
      return one.subject === other?.subject && one.key === other.key && one.holder === other.holder
    })
  )
}
