import type { Timers } from '@sonde/sdk/internal'
import type { WebhookEvent } from './event.ts'

/** Time between two looks. Unit: milliseconds. */
const LOOK_MS = 30_000
/** An agent is gone if so many looks in a row did not find it: a scrape may be late. */
const MISSES = 2
/** Agents that are remembered. Policy: the agents that left first are forgotten. */
const AGENT_COUNT_MAX = 10_000

/** Options of {@link AgentWatch}. */
export interface AgentWatchOptions {
  /** The names of the agents that are there; undefined if that is not known. */
  readonly present: () => Promise<readonly string[] | undefined>
  /** The sign of life of an agent: `samples` in a Prometheus, `answers` to the console. */
  readonly sign: 'samples' | 'answers'
  readonly notify: (event: WebhookEvent) => void
  readonly timers: Timers
}

/** Tells when agents leave and return: those that a Prometheus scrapes, or those that a console asks. */
export class AgentWatch {
  readonly #options: AgentWatchOptions
  /** Looks in a row that did not find an agent, by its name. */
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
    const { present, sign } = this.#options
    const found = await present().catch(() => undefined)
    // Without an answer nothing is known about any agent.
    if (found === undefined || this.#isStopped) return
    const there = new Set(found)
    for (const [agent, misses] of this.#misses) {
      if (there.has(agent)) continue
      this.#misses.set(agent, misses + 1)
      if (misses + 1 === MISSES) this.#tell('agent.gone', agent, `has had no ${sign} for a minute`)
    }
    for (const agent of there) {
      const misses = this.#misses.get(agent) ?? 0
      if (misses >= MISSES) this.#tell('agent.returned', agent, `has ${sign} again`)
      // Moves to the end, so that the agents that left first are at the beginning.
      this.#misses.delete(agent)
      this.#misses.set(agent, 0)
    }
    for (const agent of this.#misses.keys()) {
      if (this.#misses.size <= AGENT_COUNT_MAX) break
      this.#misses.delete(agent)
    }
  }

  #tell(type: 'agent.gone' | 'agent.returned', agent: string, words: string): void {
    const status = type === 'agent.gone' ? 'error' : 'success'
    const data = { agent, message: `The agent ${agent} ${words}` }
    this.#options.notify({ type, status, atMs: Date.now(), data })
  }
}
