import type { HistoryStatus } from '../query/form.ts'

/** State of the history of a node. */
export interface StoreAnswer extends HistoryStatus {
  /** Part of `bytes` that holds nothing and is written next; absent without a store. Unit: bytes. */
  readonly freeBytes?: number
  /** How many names it holds, by kind: types, sources, series and so on; absent without a store. */
  readonly names?: Readonly<Record<string, number>>
}

/** What `GET /api/v1/node` answers, and the event `state` of the stream. Times in milliseconds since the Unix epoch. */
export interface NodeAnswer {
  readonly node: string
  readonly version: string
  readonly startedMs: number
  /**
   * Address of the server that has the history, where this is a console without an agent: what is said of hardware,
   * series and records is then of nothing. An agent leaves it out.
   */
  readonly backend?: string
  /**
   * Agents of which that server has a sample of now: what pages of a node show is of all of them together. An agent
   * leaves it out.
   */
  readonly agentCount?: number
  readonly nowMs: number
  readonly hardware: {
    readonly cpuModel: string
    readonly cpuCount: number
    readonly memoryBytes: number
    /** Those of the host; simulated ones do not count. */
    readonly interfaceCount: number
    readonly gpuCount: number
    readonly nicCount: number
    /** Boards, and shares of boards, in words, such as `8 × H100 SXM 80 GB`; empty if there are none. */
    readonly gpus: string
    readonly nics: string
    readonly kernel: string
  }
  readonly seriesCount: number
  readonly recordsLost: number
  readonly simulated: boolean
  /** How `sonde` is called from a shell here. */
  readonly command: string
  readonly store: StoreAnswer
  /** What applications report to. */
  readonly service: {
    /** `off`: it is not wanted. `failing`: nobody can connect, for the reason that `reason` says. */
    readonly state: 'starting' | 'listening' | 'failing' | 'closed' | 'off'
    readonly reason: string
    /** Folder of the socket; empty if there is none. */
    readonly socketsDir: string
    /** What an acknowledgement is worth: `durable` survives a crash of the agent. */
    readonly ack: 'memory' | 'durable'
    readonly clientCount: number
  }
}
