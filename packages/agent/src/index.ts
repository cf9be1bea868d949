export { Agent, type AgentOptions, createAgent } from './agent.ts'
export {
  type AgentConfig,
  type CheckedDataSource,
  checkDataSources,
  checkExport,
  type DataSourceConfig,
  dataSourceSchema,
  defaultDataSources,
  destinationsOf,
  exportSchema,
  limitsSchema,
  logSchema,
  pathsSchema,
} from './config.ts'
export type { AgentFacts, DeviceFacts, SourceFacts, ToldType } from './explain/agent-facts.ts'
export type { ChainLink, Finding } from './explain/chain.ts'
export { type ExplainOptions, type Explanation, explain, isWhole } from './explain/explain.ts'
export { type Ground, KernelGround } from './explain/ground.ts'
export { trialOf } from './explain/trial.ts'
export { probeSources } from './hosting/hosts.ts'
export type { LatestSeries } from './http/latest.ts'
export { agentRoutes, createServer } from './http/server.ts'
export { serviceSchema } from './service/config.ts'
export { checkSocketsDir, type SocketsDirFinding } from './service/directory.ts'
export { SOURCES } from './sources/registry.ts'
export { parseScenario } from './sources/simulator/scenarios/flag.ts'
export type {
  Duty,
  LibraryDefinition,
  LoadedSource,
  NodeSource,
  Probe,
  SourceContext,
  SourceDefinition,
} from './sources/source.ts'
