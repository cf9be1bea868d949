import { SondeError } from '@sonde/sdk'
import type { NodesAnswer } from '@sonde/sdk/api'
import { processTimers, type Timers } from '@sonde/sdk/internal'
import { AgentLink } from './agent-link.ts'
import { AgentLogin } from './agent-login.ts'
import { AgentPlaces, type AgentResolver } from './agent-places.ts'
import type { AgentsConfig } from './config.ts'
import { standingsOf } from './standings.ts'

/** How often places are looked at for changes. Unit: milliseconds. */
const PLACES_MS = 5000

/** Options of {@link Agents}. */
export interface AgentsOptions {
  readonly config: AgentsConfig
  /** Told once of each fault of a file or name. */
  readonly onFault: (fault: SondeError) => void
  /** Default: the timers of the process. */
  readonly timers?: Timers
  /** Default: the resolver of the system. */
  readonly resolver?: AgentResolver
}

/** The agents of a console. Each has its own time and its own connections: one that hangs delays no other. */
export class Agents {
  readonly #login: AgentLogin
  readonly #places: AgentPlaces
  readonly #timers: Timers
  readonly #links = new Map<string, AgentLink>()
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor({ config, onFault, timers = processTimers, ...more }: AgentsOptions) {
    this.#login = new AgentLogin(config, onFault)
    this.#places = new AgentPlaces({ config, onFault, ...more })
    this.#timers = timers
  }

  /** Whether a configuration names any way to agents. */
  static isGiven({ urls, discovery_file: file, dns_name: name }: AgentsConfig): boolean {
    return Object.keys(urls).length > 0 || file !== undefined || name !== undefined
  }

  get count(): number {
    return this.#links.size
  }

  /** Finds the agents and begins to look at them; resolves when they are found. */
  async start(): Promise<void> {
    await this.#login.look()
    await this.#follow()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
    for (const link of this.#links.values()) link.stop()
  }

  /** All agents by name, and how their versions stand. */
  answer(): NodesAnswer {
    const nodes = [...this.#links.values()].map(({ node }) => node)
    const standing = standingsOf(nodes)
    const listed = nodes.map((node) => ({ ...node, versions: node.versions.map(standing) }))
    return {
      nowMs: Date.now(),
      nodes: listed.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
      faults: [...this.#places.faults, ...this.#login.faults],
    }
  }

  /** The names of the agents that answer. */
  get reachable(): readonly string[] {
    return [...this.#links].flatMap(([name, { node }]) => (node.state === 'reachable' ? [name] : []))
  }

  /** The ways to all agents. */
  get links(): readonly AgentLink[] {
    return [...this.#links.values()]
  }

  /** @throws SondeError `NOD_UNKNOWN` if no agent has the name. */
  link(name: string): AgentLink {
    const found = this.#links.get(name)
    if (found === undefined)
      throw new SondeError(
        'NOD_UNKNOWN',
        `no agent of this console has the name ${JSON.stringify(name.slice(0, 100))}; /api/v1/nodes has all`,
      )
    return found
  }

  async #follow(): Promise<void> {
    const places = await this.#places.list()
    if (this.#isStopped) return
    const urls = new Map(places.map(({ name, url }) => [name, url]))
    for (const [name, link] of this.#links) {
      if (urls.get(name) === link.place.url) continue
      link.stop()
      this.#links.delete(name)
    }
    for (const place of places) {
      if (this.#links.has(place.name)) continue
      const link = new AgentLink(place, this.#login, this.#timers)
      this.#links.set(place.name, link)
      link.start()
    }
    this.#cancel = this.#timers.after(PLACES_MS, () => void this.#follow())
  }
}
