import type { Sink } from '@sonde/sdk'
import type { NodeAnswer, StoreAnswer } from '@sonde/sdk/api'
import type { History } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { AgentConfig } from './config.ts'
import type { KeptRecords } from './pipeline/kept-records.ts'

/** Options of `createAgent`. */
export interface AgentOptions {
  readonly config: AgentConfig
  readonly log: Logger
  /** Version that `/api/v1/node` tells. */
  readonly version: string
  /** Commit of the program, for `sonde_build_info`. Default: not known. */
  readonly revision?: string
  /** Origin of the value at a key path of the configuration: a flag, a variable, `file:line`, or `default`. */
  readonly originOf?: (path: string) => string
  /** Sinks beside the agent's own views. */
  readonly sinks?: readonly Sink[]
  /** The history for queries. Default: the ring of the last minutes. */
  readonly history?: History
  readonly storeStatus?: () => StoreAnswer
  /** The certificate of the server. Default: it has none. */
  readonly certificate?: () => NodeAnswer['certificate']
  /** File by which the next start knows how this one ended. Default: nothing is noted. */
  readonly lifeFile?: string
  /** What lists and prints the records of the store. Default: there is none. */
  readonly kept?: KeptRecords
  /** Folder of the windows of incidents that people pin. Default: nothing can be pinned. */
  readonly pinsDir?: string
  /** Whether scrapers of GPUs, such as `dcgm_exporter`, are switched on. Asked every second. Default: yes. */
  readonly isScraping?: () => boolean
  /** URL of the module whose `SOURCES` child processes look their source up in. Default: the registry. */
  readonly sourcesModule?: string
}
