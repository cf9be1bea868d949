import type { LatestSeries } from '@sonde/sdk/api'
import type { Timers } from '@sonde/sdk/internal'
import type { WebhookEvent } from './event.ts'

/** A metric that every agent has. */
const METRIC = 'sonde_process_uptime_seconds'
/** Time between two looks. Unit: milliseconds. */
const LOOK_MS = 30_000
/** An agent is gone if so many looks in a row did not find it: a scrape may be late. */
const MISSES = 2
/** Agents that are remembered. Policy: the agents that left first are forgotten. */
const AGENT_COUNT_MAX = 10_000

/** Options of {@link AgentWatch}. */
export interface AgentWatchOptions {
  /** The present series of a metric. */
  readonly series: (asked: { readonly metric: string }) => Promise<readonly Pick<LatestSeries, 'labels'>[]>
  readonly notify: (event: WebhookEvent) => void
  readonly timers: Timers
}

/** Tells when agents that a Prometheus scrapes leave and return. */
export class AgentWatch {
  readonly #options: AgentWatchOptions
  /** Looks in a row that did not find an agent, by its instance. */
  readonly #misses = new Map<string, number>()
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor(options: AgentWatchOptions) {
    this.#options = options
  }

  start(): void {
    void this.#look().finally(() => {
      if (!this.#isStopped) this.#cancel = this.#options.timers.after(LOOK_MS, () => this.start())
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  async #look(): Promise<void> {
    const found = await this.#options.series({ metric: METRIC }).catch(() => undefined)
    // Without an answer nothing is known about any agent.
    if (found === undefined || this.#isStopped) return
    const present = new Set(found.flatMap(({ labels: { instance = '' } }) => (instance === '' ? [] : [instance])))
    for (const [instance, misses] of this.#misses) {
      if (present.has(instance)) continue
      this.#misses.set(instance, misses + 1)
      if (misses + 1 === MISSES) this.#tell('agent.gone', instance, 'has had no sample for a minute')
    }
    for (const instance of present) {
      const misses = this.#misses.get(instance) ?? 0
      if (misses >= MISSES) this.#tell('agent.returned', instance, 'has samples again')
      // Moves to the end, so that the agents that left first are at the beginning.
      this.#misses.delete(instance)
      this.#misses.set(instance, 0)
    }
    for (const instance of this.#misses.keys()) {
      if (this.#misses.size <= AGENT_COUNT_MAX) break
      this.#misses.delete(instance)
    }
  }

  #tell(type: 'agent.gone' | 'agent.returned', instance: string, words: string): void {
    const status = type === 'agent.gone' ? 'error' : 'success'
    const data = { agent: instance, message: `The agent ${instance} ${words}` }
    this.#options.notify({ type, status, atMs: Date.now(), data })
  }
}
