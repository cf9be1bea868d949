import type { Duty } from '../sources/source.ts'
import type { LaneCall } from './call-lanes.ts'
import type { StuckCall } from './stuck-call.ts'

/** Callbacks of a {@link DutyRun}. */
export interface DutyEvents {
  readonly onDone: (run: DutyRun, durationMs: number) => void
  readonly onOverdue: () => void
  readonly onStarved: (run: DutyRun) => void
  readonly onStuck: (run: DutyRun) => void
}

const NONE: Duty = { device: '', name: '', everyUs: 0, run: () => undefined }

/** One duty of a source, from call to call. */
export class DutyRun implements LaneCall {
  duty: Duty = NONE
  lane = ''
  limitMs = 0
  /** Whether a call came back. */
  isDone = false
  /** Whether the open call is over its limit. */
  isStuck = false
  /** Why the open call is late because of a shortage of processors, in words; empty if there is none. */
  shortage = ''
  /** Whether a call waits or is open. */
  isPending = false
  /** Whether a call is open. */
  isOpen = false
  /** Whether a call is waited for before what was reported leaves. */
  isAwaited = false
  /** When the last call was made. Unit: milliseconds since the Unix epoch. */
  sinceMs = 0
  /** The error of the last call. */
  failure: unknown
  readonly #events: DutyEvents
  #isGone = false
  #ended: PromiseWithResolvers<void> | undefined

  constructor(events: DutyEvents) {
    this.#events = events
  }

  /** Why it is stuck, in words. */
  get reason(): string {
    return `A call took more than ${this.limitMs} ms`
  }

  /** The call that is over its limit. */
  get stuckCall(): StuckCall {
    const { device, name: duty, limitMs: ownLimitMs, limitKey = '' } = this.duty
    const key = ownLimitMs === undefined ? 'limits.source_call_ms' : limitKey
    return { device, duty, sinceMs: this.sinceMs, limitMs: Math.ceil(this.limitMs), limitKey: key }
  }

  /** Takes the next call on; false if one waits or is open. */
  take(): boolean {
    if (this.isPending) return false
    this.isPending = true
    this.isAwaited = true
    return true
  }

  run(): void | Promise<void> {
    this.isOpen = true
    this.sinceMs = Date.now()
    return this.duty.run()
  }

  done(durationMs: number, error?: unknown): void {
    this.isPending = false
    this.isOpen = false
    this.isAwaited = false
    this.isStuck = false
    this.shortage = ''
    this.isDone = true
    this.failure = error
    this.#ended?.resolve()
    if (!this.#isGone) this.#events.onDone(this, durationMs)
  }

  overdue(): void {
    this.isAwaited = false
    if (!this.#isGone) this.#events.onOverdue()
  }

  starved(reason: string): void {
    this.shortage = reason
    if (!this.#isGone) this.#events.onStarved(this)
  }

  stuck(): void {
    this.shortage = ''
    this.isStuck = true
    if (!this.#isGone) this.#events.onStuck(this)
  }

  /** The duty has ended: the result of an open call is ignored. */
  leave(): void {
    this.#isGone = true
  }

  /** Resolves when the open call came back; at once where none is. */
  ended(): Promise<void> {
    if (!this.isOpen) return Promise.resolve()
    this.#ended ??= Promise.withResolvers()
    return this.#ended.promise
  }
}
