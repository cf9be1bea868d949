export { Agent, type AgentOptions, createAgent } from './agent.ts'
export {
  type AgentConfig,
  checkExport,
  destinationsOf,
  exportSchema,
  limitsSchema,
  logSchema,
  nativeSchema,
  pathsSchema,
  undoneOf,
} from './config.ts'
export type { AgentFacts, DeviceFacts, SourceFacts, ToldType } from './explain/agent-facts.ts'
export { explain } from './explain/explain.ts'
export { type ExplainOptions, type Explanation, isWhole } from './explain/explanation.ts'
export { trialOf } from './explain/trial.ts'
export { probeSources } from './hosting/hosts.ts'
export { agentRoutes, createServer } from './http/server.ts'
export type { LatestSeries } from './pipeline/latest.ts'
export { serviceSchema } from './service/config.ts'
export { checkSocketsDir, type SocketsDirFinding } from './service/directory.ts'
export type { ChainLink, Finding } from './sources/chains/chain.ts'
export { type Ground, KernelGround } from './sources/chains/ground.ts'
export {
  type CheckedDataSource,
  checkDataSources,
  type DataSourceConfig,
  dataSourceSchema,
  defaultDataSources,
  intervalMs,
} from './sources/data-sources.ts'
export { devicePatterns } from './sources/device-filter.ts'
export { DOCA_HOST } from './sources/doca/options.ts'
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
export { defaultTracebackDir, tracebackSchema } from './traceback/config.ts'
