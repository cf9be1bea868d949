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
   * Address of the server with the history, if this is a console without an agent; empty if there is none. The members
   * about hardware, series and records are then empty. Absent for an agent.
   */
  readonly backend?: string
  /**
   * Number of agents with current samples on that server. Pages of a node then show all of them together. Absent for an
   * agent.
   */
  readonly agentCount?: number
  /** Number of agents in `/api/v1/nodes`. Absent for an agent, and for a console that is given none. */
  readonly nodeCount?: number
  /** The certificate of this server. Absent without TLS. */
  readonly certificate?: {
    /** When it ends. */
    readonly endsMs: number
    /** Why newer files are not in use, as a sentence; empty if there are none. */
    readonly fault: string
  }
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
    /** `off`: not configured. `failing`: clients cannot connect, for the reason in `reason`. */
    readonly state: 'starting' | 'listening' | 'failing' | 'closed' | 'off'
    readonly reason: string
    /** Folder of the socket; empty if there is none. */
    readonly socketsDir: string
    /** The meaning of an acknowledgement: `durable` records survive a crash of the agent. */
    readonly ack: 'memory' | 'durable'
    readonly clientCount: number
  }
}
