import type { FromHost } from './protocol.ts'
import type { SampleCall } from './source-stats.ts'
import type { SourceStatus } from './source-status.ts'

/** How a source fares is told so often at most. Unit: milliseconds. */
const APART_MS = 50
/** Calls of one message at most; with more it is sent at once. */
const CALLS_MAX = 200

/** Tells the agent how one source fares: at once after a rest, and else together with what follows soon. */
export class StatusOut {
  readonly #source: string
  readonly #status: SourceStatus
  readonly #send: (message: FromHost) => void
  #calls: SampleCall[] = []
  #sentMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(source: string, status: SourceStatus, send: (message: FromHost) => void) {
    this.#source = source
    this.#status = status
    this.#send = send
    status.stats.onSampled = (call) => {
      if (this.#calls.push(call) >= CALLS_MAX) this.flush()
    }
  }

  changed(): void {
    if (this.#timer !== undefined) return
    const restMs = this.#sentMs + APART_MS - performance.now()
    if (restMs <= 0) this.flush()
    else this.#timer = setTimeout(() => this.flush(), restMs)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sentMs = performance.now()
    const { state, reason, found, stuck, stats } = this.#status
    const { failed, dropped, overruns } = stats
    this.#send({
      ...{ kind: 'status', source: this.#source, state, reason, found, stuck, overruns },
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
}
