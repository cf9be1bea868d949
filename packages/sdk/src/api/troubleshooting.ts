/** How dcgm-exporter was installed; `none`: it is not, and another source reads the GPUs. */
export type ExporterInstall = 'helm' | 'operator' | 'none'

/** What the reader of the page runs: `sonde agent` or `sonde up`, `sonde console`, or `sonde ps` alone. */
export type SondeProgram = 'agent' | 'console' | 'ps'

/** A place that the numbers of GPUs pass on their way to the page. */
export interface TroubleshootingHop {
  readonly name: string
  /**
   * `ok`: the numbers pass; `broken`: they do not; `unknown`: it cannot be seen from here; `off`: it is not used.
   */
  readonly state: 'ok' | 'broken' | 'unknown' | 'off'
  /** What was found, with numbers, as a sentence. */
  readonly finding: string
  /** What to do, as a sentence; empty if nothing is to do. */
  readonly advice: string
  /** Commands that show the hop. */
  readonly commands: readonly string[]
  /** What the page Explain walks for it; absent if there is no such walk. */
  readonly explain?: string
}

/** What `GET /api/v1/troubleshooting?exporter=&program=` answers. */
export interface TroubleshootingAnswer {
  readonly nowMs: number
  readonly exporter: ExporterInstall
  readonly program: SondeProgram
  /** From the driver to the receivers of webhooks. */
  readonly hops: readonly TroubleshootingHop[]
}
