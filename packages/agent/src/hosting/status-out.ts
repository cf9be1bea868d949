import type { FromHost } from './protocol.ts'
import type { SampleCall } from './source-stats.ts'
import type { SourceStatus } from './source-status.ts'

/** How a source fares is sent so often at most. Unit: milliseconds. */
const APART_MS = 50
/** The shortest time between reports of returned calls only, because a message wakes the agent. Unit: milliseconds. */
const CALLS_APART_MS = 500
/** Calls of one message at most; with more it is sent at once. */
const CALLS_MAX = 200

/** The last sent status, without counts. */
type SentStatus = Pick<SourceStatus, 'state' | 'reason' | 'found' | 'stuck' | 'targets'>

/**
 * Sends the status of one source to the agent: at once after a pause, else together with the next changes. Changes of
 * state wait for less time than returned calls.
 */
export class StatusOut {
  readonly #source: string
  readonly #status: SourceStatus
  readonly #send: (message: FromHost) => void
  #calls: SampleCall[] = []
  #sent: SentStatus | undefined
  #sentMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  /** When the timer ends; infinite without a timer. */
  #dueMs = Number.POSITIVE_INFINITY

  constructor(source: string, status: SourceStatus, send: (message: FromHost) => void) {
    this.#source = source
    this.#status = status
    this.#send = send
    status.stats.onSampled = (call) => {
      if (this.#calls.push(call) >= CALLS_MAX) this.flush()
    }
  }

  changed(): void {
    const dueMs = this.#sentMs + (this.#isNews() ? APART_MS : CALLS_APART_MS)
    if (dueMs >= this.#dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    const restMs = dueMs - performance.now()
    if (restMs <= 0) this.flush()
    else this.#timer = setTimeout(() => this.flush(), restMs)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#dueMs = Number.POSITIVE_INFINITY
    this.#sentMs = performance.now()
    const { state, reason, found, stuck, targets, stats } = this.#status
    const { failed, dropped, overruns } = stats
    const sentTargets = this.#sent?.targets
    this.#sent = { state, reason, found, stuck, targets }
    this.#send({
      ...{ kind: 'status', source: this.#source, state, reason, found, stuck, overruns },
      ...(targets === sentTargets ? {} : { targets }),
      calls: this.#calls,
      failed: failed.count,
      failures: failed.latest(),
      dropped: Object.fromEntries(dropped),
    })
    this.#calls = []
    stats.overruns = 0
    failed.clear()
    dropped.clear()
  }

  /** Whether anything but returned calls has to be reported. */
  #isNews(): boolean {
    const { state, reason, found, stuck, targets, stats } = this.#status
    const sent = this.#sent
    if (state !== sent?.state || reason !== sent.reason || found !== sent.found || stuck !== sent.stuck) return true
    if (targets !== sent.targets) return true
    return stats.failed.count > 0 || stats.dropped.size > 0 || stats.overruns > 0
  }
}
