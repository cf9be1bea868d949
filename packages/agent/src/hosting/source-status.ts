import { SourceStats } from './source-stats.ts'
import type { StuckCall } from './stuck-call.ts'

/** State of a source as people see it. */
export type SourceState = 'starting' | 'reading' | 'absent' | 'denied' | 'stuck' | 'failed'

/** A state that a source came to. */
export interface Settled {
  readonly state: SourceState
  /** Why; empty while it reads. */
  readonly reason: string
  readonly before: SourceState
}

/** How a source fares: kept by its host, and by the agent of what a host elsewhere says. */
export class SourceStatus {
  state: SourceState = 'starting'
  reason = ''
  /** What the probe found, in words. */
  found = ''
  /** Calls that are over their limit. Bounded by the duties of the source. */
  stuck: readonly StuckCall[] = []
  readonly stats = new SourceStats()
  readonly #onSettled: (settled: Settled) => void

  /** @param onSettled Called when state or reason change. */
  constructor(onSettled: (settled: Settled) => void = () => undefined) {
    this.#onSettled = onSettled
  }

  settle(state: SourceState, reason: string): void {
    if (this.state === state && this.reason === reason) return
    const before = this.state
    this.state = state
    this.reason = reason
    this.#onSettled({ state, reason, before })
  }
}
