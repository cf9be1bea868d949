import type { SourceState, TargetStatus } from '@sonde/sdk/api'
import { SourceStats } from './source-stats.ts'
import type { StuckCall } from './stuck-call.ts'

/** A state that a source came to. */
export interface Settled {
  readonly state: SourceState
  /** Why; empty while it reads. */
  readonly reason: string
  readonly before: SourceState
}

/** Callbacks of a source status. */
export interface StatusEvents {
  /** State or reason are others now. */
  readonly onSettled?: (settled: Settled) => void
  /** A call is over its limit. */
  readonly onStuck?: (call: StuckCall) => void
  /** It came back, or its device left. */
  readonly onBack?: (call: StuckCall) => void
}

/** The status of a source, kept by its host, and by the agent for a remote host. */
export class SourceStatus {
  state: SourceState = 'starting'
  reason = ''
  /** The result of the probe, in words. */
  found = ''
  readonly stats = new SourceStats()
  /** How its targets fare: another array when something of it is another. */
  targets: readonly TargetStatus[] = []
  #stuck: readonly StuckCall[] = []
  /** The state before its host was starved. */
  #before: Pick<Settled, 'state' | 'reason'> | undefined
  readonly #events: StatusEvents

  constructor(events: StatusEvents = {}) {
    this.#events = events
  }

  /** Calls that are over their limit. Bounded by the duties of the source. */
  get stuck(): readonly StuckCall[] {
    return this.#stuck
  }

  set stuck(calls: readonly StuckCall[]) {
    const before = this.#stuck
    this.#stuck = calls
    const { onStuck, onBack } = this.#events
    for (const call of calls) if (!before.some((one) => isSame(one, call))) onStuck?.(call)
    for (const call of before) if (!calls.some((one) => isSame(one, call))) onBack?.(call)
  }

  /** Its host is starved of processor time and does not answer. */
  starve(words: string): void {
    const { state, reason } = this
    if (state !== 'reading' && state !== 'starting') return
    this.settle('starved', words)
    this.#before = { state, reason }
  }

  /** Its host answers again: restores the earlier state. */
  goOn(): void {
    if (this.#before !== undefined) this.settle(this.#before.state, this.#before.reason)
  }

  settle(state: SourceState, reason: string): void {
    this.#before = undefined
    if (this.state === state && this.reason === reason) return
    const before = this.state
    this.state = state
    this.reason = reason
    this.#events.onSettled?.({ state, reason, before })
  }
}

function isSame(one: StuckCall, other: StuckCall): boolean {
  return one.device === other.device && one.duty === other.duty
}
