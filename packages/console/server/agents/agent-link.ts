import type { IncomingMessage } from 'node:http'
import { SondeError } from '@sonde/sdk'
import type { ListedNode, PartVersion, ReachState } from '@sonde/sdk/api'
import type { Timers } from '@sonde/sdk/internal'
import type { Certificates } from '../access/followed-certificates.ts'
import { OutboundClient } from '../outbound/outbound-client.ts'
import { type AgentReading, agentJson, openHints, readNode, readVersions } from './agent-answers.ts'
import type { AgentLogin } from './agent-login.ts'
import type { AgentPlace } from './discovery-file.ts'

/** Time between two looks at an agent. Unit: milliseconds. */
const LOOK_MS = 5000
/** Longest time of a look. Unit: milliseconds. */
const LOOK_LIMIT_MS = 4000
const CONNECT_LIMIT_MS = 2000
/** Versions change seldom: they are asked at every so many looks. */
const VERSION_LOOKS = 3
/** Requests of readers to one agent at a time. Policy: further ones are refused with `NOD_BUSY`. */
const UNDER_WAY_MAX = 32
/** Streams from one agent at a time. Policy: as above. */
const STREAM_COUNT_MAX = 64

/** A request of a reader. */
export interface LinkRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Infinity for a stream. Unit: milliseconds. */
  readonly limitMs: number
}

type Outlook = Pick<ListedNode, 'hintCount' | 'severity' | 'answeredMs'>

/**
 * One agent: what it said last, and the way to it. Looks at it again and again; while a look fails, requests of readers
 * are refused at once, so that nobody waits for an agent that does not answer.
 */
export class AgentLink {
  readonly place: AgentPlace
  readonly #login: AgentLogin
  readonly #timers: Timers
  readonly #ending = new AbortController()
  #client: { readonly certificates: Certificates | undefined; readonly client: OutboundClient } | undefined
  #state: ReachState = 'asking'
  #sinceMs = Date.now()
  #reason = 'it has not answered yet'
  #facts: AgentReading | undefined
  #versions: readonly PartVersion[] = []
  #outlook: Outlook = { hintCount: null, severity: null, answeredMs: null }
  #lookCount = 0
  #cancel: () => void = () => undefined
  #underWay = 0
  readonly #streams = new Set<AbortController>()

  constructor(place: AgentPlace, login: AgentLogin, timers: Timers) {
    this.place = place
    this.#login = login
    this.#timers = timers
  }

  /** The facts about the agent; its versions are not compared yet. */
  get node(): Omit<ListedNode, 'versions'> & { readonly versions: readonly PartVersion[] } {
    const { node = '', startedMs = null, hardware = '', simulated = false } = this.#facts ?? {}
    return {
      ...this.place,
      ...{ node, state: this.#state, sinceMs: this.#sinceMs, reason: this.#reason },
      ...{ startedMs, hardware, simulated, ...this.#outlook, versions: this.#versions },
    }
  }

  start(): void {
    void this.#look().finally(() => {
      if (!this.#ending.signal.aborted) this.#cancel = this.#timers.after(LOOK_MS, () => this.start())
    })
  }

  stop(): void {
    this.#cancel()
    this.#ending.abort()
    this.#endStreams()
    this.#client?.client.close()
  }

  /**
   * Asks the agent for a reader.
   *
   * @throws SondeError `NOD_UNREACHABLE` or `NOD_BUSY`, or why the agent gives no answer.
   */
  async ask(asked: LinkRequest): Promise<IncomingMessage> {
    if (this.#state !== 'reachable')
      throw new SondeError('NOD_UNREACHABLE', `${this.place.name} cannot be asked: ${this.#reason}`, {
        retryAfterS: LOOK_MS / 1000,
      })
    const isStream = asked.limitMs === Number.POSITIVE_INFINITY
    if (isStream ? this.#streams.size >= STREAM_COUNT_MAX : this.#underWay >= UNDER_WAY_MAX)
      throw new SondeError('NOD_BUSY', `${this.place.name} is asked too much at once; try again`, { retryAfterS: 1 })
    const leave = isStream ? this.#enterStream() : this.#enter()
    try {
      const signal = AbortSignal.any([asked.signal, leave.signal])
      const response = await this.#open({ ...asked, signal })
      response.once('close', leave.done)
      return response
    } catch (error) {
      leave.done()
      throw error
    }
  }

  #enter() {
    this.#underWay++
    let isDone = false
    const done = () => {
      if (!isDone) this.#underWay--
      isDone = true
    }
    return { signal: this.#ending.signal, done }
  }

  #enterStream() {
    const ending = new AbortController()
    this.#streams.add(ending)
    return { signal: ending.signal, done: () => void this.#streams.delete(ending) }
  }

  #endStreams(): void {
    for (const stream of this.#streams) stream.abort()
  }

  #open({ path, headers, ...asked }: LinkRequest): Promise<IncomingMessage> {
    return this.#through().open({
      ...asked,
      url: this.place.url + path,
      connectLimitMs: CONNECT_LIMIT_MS,
      headers: { ...headers, ...this.#login.headers },
    })
  }

  /** The client with the certificates of now. The connections of one before end with their answers. */
  #through(): OutboundClient {
    const { certificates } = this.#login
    if (this.#client === undefined || this.#client.certificates !== certificates)
      this.#client = {
        certificates,
        client: new OutboundClient({ allowsPrivate: true, allowsShared: true, keepsConnections: true, certificates }),
      }
    return this.#client.client
  }

  async #look(): Promise<void> {
    try {
      await this.#login.look()
      const [facts, hints] = await Promise.all([this.#json('/api/v1/node'), this.#json('/api/v1/hints')])
      this.#facts = readNode(facts)
      this.#outlook = { ...openHints(hints), answeredMs: Date.now() }
      if (this.#lookCount++ % VERSION_LOOKS === 0) this.#versions = readVersions(await this.#json('/api/v1/versions'))
      this.#become('reachable', '')
    } catch (error) {
      if (this.#ending.signal.aborted) return
      if (!(error instanceof SondeError)) return this.#become('unreachable', 'it broke off its answer')
      this.#become(error.code.startsWith('NOD_') ? 'refused' : 'unreachable', error.message)
    }
  }

  async #json(path: string): Promise<unknown> {
    const headers = { accept: 'application/json' }
    const signal = this.#ending.signal
    return agentJson(await this.#open({ method: 'GET', path, headers, signal, limitMs: LOOK_LIMIT_MS }))
  }

  #become(state: ReachState, reason: string): void {
    this.#reason = reason
    if (state === this.#state) return
    this.#state = state
    this.#sinceMs = Date.now()
    // An agent that has come back may have another version.
    this.#lookCount = state === 'reachable' ? this.#lookCount : 0
    if (state !== 'reachable') this.#endStreams()
  }
}
