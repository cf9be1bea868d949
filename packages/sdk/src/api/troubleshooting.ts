/** How dcgm-exporter was installed; `none`: it is not, and another source reads the GPUs. */
export type ExporterInstall = 'helm' | 'operator' | 'none'

/** What the reader of the page runs: `sonde agent` or `sonde up`, `sonde console`, or `sonde ps` alone. */
export type SondeProgram = 'agent' | 'console' | 'ps'

/** `ok`: the numbers pass; `broken`: they do not; `unknown`: it cannot be seen from here; `off`: it is not used. */
export type HopState = 'ok' | 'broken' | 'unknown' | 'off'

/** What a node of a console finds at a hop. */
export interface HopOfNode {
  /** The name that the console has for the node. */
  readonly node: string
  readonly state: HopState
  /** A sentence. */
  readonly finding: string
  /** What to do, as a sentence; empty if nothing is to do. */
  readonly advice: string
}

/** A place that the numbers of GPUs pass on their way to the page. */
export interface TroubleshootingHop {
  readonly name: string
  /** Over several nodes: `broken` if it is broken on any of them. */
  readonly state: HopState
  /** What was found, with numbers, as a sentence. */
  readonly finding: string
  /** What to do, as a sentence; empty if nothing is to do. */
  readonly advice: string
  /** Commands that show the hop. */
  readonly commands: readonly string[]
  /** What the page Explain walks for it; absent if there is no such walk. */
  readonly explain?: string
  /** The nodes of a console, the worst first, at most 20; absent on a server that asks none. */
  readonly nodes?: readonly HopOfNode[]
}

/** What `GET /api/v1/troubleshooting?exporter=&program=` answers. */
export interface TroubleshootingAnswer {
  readonly nowMs: number
  readonly exporter: ExporterInstall
  readonly program: SondeProgram
  /** From the agents of a console and the driver to the receivers of webhooks. */
  readonly hops: readonly TroubleshootingHop[]
}
