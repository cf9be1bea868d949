import { type ChainLink, firstBroken } from '../sources/chains/chain.ts'
import type { Ground } from '../sources/chains/ground.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { TracebackConfig } from '../traceback/config.ts'
import type { AgentFacts } from './agent-facts.ts'

/** The walk from configuration to value, for what was asked. */
export interface Explanation {
  /** What was asked for. */
  readonly of: string
  /** Name of the source that reads it. */
  readonly source: string
  /** The device, by the name that the source gives it; empty if the source as a whole is explained. */
  readonly device: string
  readonly links: readonly ChainLink[]
}

/** Options of {@link explain}. */
export interface ExplainOptions {
  readonly ground: Ground
  readonly definitions: readonly SourceDefinition[]
  /** Sources that are configured and not switched off. */
  readonly configured: readonly DataSourceConfig[]
  /** What a running agent knows; absent if none answers. */
  readonly facts?: AgentFacts | undefined
  /** What the configuration says of traceback. Default: nothing. */
  readonly traceback?: TracebackConfig | undefined
  /** Where an agent was looked for, for people. */
  readonly agentPlace: string
  /**
   * Takes one sample of a source whose drivers only a child process may ask: what its walk ends with where no agent
   * answers. Default: none is taken.
   */
  readonly trial?: (config: DataSourceConfig) => Promise<AgentFacts>
}

/** Whether no link is broken. */
export function isWhole({ links }: Explanation): boolean {
  return firstBroken(links) === undefined
}
