export { Agent, type AgentOptions, createAgent } from './agent.ts'
export {
  type AgentConfig,
  type CheckedDataSource,
  checkDataSources,
  type DataSourceConfig,
  dataSourceSchema,
  defaultDataSources,
  exportSchema,
  limitsSchema,
  logSchema,
  pathsSchema,
  prometheusSchema,
} from './config.ts'
export { agentRoutes, createServer } from './http/server.ts'
export { probeSources } from './pipeline/make-runner.ts'
export { SOURCES } from './sources/registry.ts'
export type { NodeSource, Placement, Probe, SourceContext, SourceDefinition } from './sources/source.ts'
