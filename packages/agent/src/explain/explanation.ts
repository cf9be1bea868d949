import type { ExplainWalk } from '@sonde/sdk/api'
import { firstBroken } from '../sources/chains/chain.ts'
import type { ChainContext } from '../sources/chains/chain-context.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { TracebackConfig } from '../traceback/config.ts'
import type { AgentFacts } from './agent-facts.ts'

/** Options of {@link explain}. */
export interface ExplainOptions {
  readonly context: ChainContext
  readonly definitions: readonly SourceDefinition[]
  /** Sources that are configured and enabled. */
  readonly configured: readonly DataSourceConfig[]
  /** Facts of a running agent; absent if none answers. */
  readonly facts?: AgentFacts | undefined
  /** Configuration of traceback. Default: none. */
  readonly traceback?: TracebackConfig | undefined
  /** Address of the agent that was tried, for messages. */
  readonly agentPlace: string
  /**
   * Takes one sample of a source that may only run in a child process. The walk ends with it if no agent
   * answers. Default: no sample is taken.
   */
  readonly trial?: (config: DataSourceConfig) => Promise<AgentFacts>
}

/** Whether no link is broken. */
export function isUnbroken({ links }: ExplainWalk): boolean {
  return firstBroken(links) === undefined
}
